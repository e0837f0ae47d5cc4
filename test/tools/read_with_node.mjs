// What readers in JavaScript make of mmprof's files: the rows of a Parquet file, or the sums of a pprof profile.
//
//     node read_with_node.mjs NODE_MODULES parquet FILE     rows, and the sums of calls, self_ns and cycles
//     node read_with_node.mjs NODE_MODULES pprof FILE       samples, and for each value its name and sum
import fs from "node:fs";
import zlib from "node:zlib";
import { resolve } from "node:path";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [given, what, path] = process.argv.slice(2);
const modules = resolve(given);

async function parquet() {
    const { parquetReadObjects } = await import(pathToFileURL(modules + "/hyparquet/src/index.js"));
    const bytes = fs.readFileSync(path);
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    const rows = await parquetReadObjects({ file, compressors: { GZIP: (input) => new Uint8Array(zlib.gunzipSync(input)) } });
    const sum = (name) => {
        const known = rows.map((row) => row[name]).filter((value) => value !== null && value !== undefined);
        return known.length === 0 ? "NULL" : known.reduce((total, value) => total + BigInt(value), 0n).toString();
    };
    return [rows.length, sum("calls"), sum("self_ns"), sum("cycles")];
}

function pprof() {
    const { Profile } = createRequire(modules + "/x.js")("pprof-format");
    const profile = Profile.decode(zlib.gunzipSync(fs.readFileSync(path)));
    const sums = profile.sampleType.map((type, i) => [
        profile.stringTable.strings[Number(type.type)],
        profile.sample.reduce((total, sample) => total + BigInt(sample.value[i]), 0n)
    ]);
    return [profile.sample.length, ...sums.flat()];
}

console.log((what === "pprof" ? pprof() : await parquet()).join(" "));
