// What the Model Context Protocol's own client makes of 'mmprof mcp'.
//
//     node mcp_client.mjs NODE_MODULES MMPROF TRACE     tools, and what each kind of call gives, a line each
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, mmprof, trace] = process.argv.slice(2);
const sdk = (file) => import(pathToFileURL(resolve(modules) + "/@modelcontextprotocol/sdk/dist/esm/client/" + file));
const { Client } = await sdk("index.js");
const { StdioClientTransport } = await sdk("stdio.js");

const client = new Client({ name: "test", version: "1" });
await client.connect(new StdioClientTransport({ command: mmprof, args: ["mcp", trace] }));
console.log(client.getServerVersion().name, ...(await client.listTools()).tools.map((tool) => tool.name));
await client.ping();

async function call(name, args) {
    try {
        const result = await client.callTool({ name, arguments: args });
        return [result.isError ? "error" : "result", result.content.at(-1).text];
    } catch (error) {
        return ["refused", String(error.code)];
    }
}
console.log("report", JSON.parse((await call("report", { trace: "t1" }))[1]).schema);
console.log("ps", (await call("ps", {}))[0], "profile", (await call("profile", { pid: -1 }))[0]);
console.log("rm", ...(await call("rm", {})));
await client.close();
