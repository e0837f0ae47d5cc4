/* Options of a JVM as words.  It needs nothing but libc: what is preloaded (start_java.c) has it, too. */
#include "core/jvm/flag_words.h"

#include "core/base/text.h"

/* ---- options ---- */

static void take_agent(struct jvm_flags *flags, const char *word)
{
    bool is_jdwp = text_begins(word, "-agentlib:jdwp") || text_begins(word, "-Xrunjdwp");
    flags->debugger |= is_jdwp;
    if (!is_jdwp && flags->agent[0] == '\0')
        snprintf(flags->agent, sizeof flags->agent, "%s", word);
}

/* "-XX:+NAME" and "-XX:-NAME". */
static bool take_switch(const char *word, const char *name, bool *value)
{
    if (!text_begins(word, "-XX:") || (word[4] != '+' && word[4] != '-') || strcmp(word + 5, name) != 0)
        return false;
    *value = word[4] == '+';
    return true;
}

/* JDK 25 takes AOTMode=record from AOTCacheOutput, unless another mode was given. */
static void take_archive(struct jvm_flags *flags, const char *word)
{
    static const char mode[] = "-XX:AOTMode=";
    bool is_asked = false;
    if (strcmp(word, "-Xshare:dump") == 0 || text_begins(word, "-XX:ArchiveClassesAtExit=") ||
        text_begins(word, "-XX:AOTCacheOutput=") ||
        (text_begins(word, mode) && strcmp(word + sizeof mode - 1, "record") == 0 && flags->archive[0] == '\0') ||
        (take_switch(word, "RecordDynamicDumpInfo", &is_asked) && is_asked))
        snprintf(flags->archive, sizeof flags->archive, "%s", word);
    flags->archive_bars_agents = flags->archive[0] != '\0' && !text_begins(flags->archive, "-XX:AOT");
    take_switch(word, "AutoCreateSharedArchive", &flags->may_archive);
}

void flag_words_take(struct jvm_flags *flags, const char *word)
{
    static const char tiered[] = "-XX:TieredStopAtLevel=";
    if (strcmp(word, "-Xint") == 0 || strcmp(word, "-Xmixed") == 0 || strcmp(word, "-Xcomp") == 0)
        flags->interprets = strcmp(word, "-Xint") == 0;
    else if (strcmp(word, "-Xrs") == 0)
        flags->no_signals = true;
    else if (text_begins(word, tiered))
        flags->tiered_stop = atoi(word + sizeof tiered - 1);
    else if (text_begins(word, "-agentlib:") || text_begins(word, "-agentpath:") || text_begins(word, "-javaagent:") ||
             text_begins(word, "-Xrunjdwp"))
        take_agent(flags, word);
    else if (take_switch(word, "EnableDynamicAgentLoading", &flags->late_agents_enabled))
        flags->late_agents_disabled = !flags->late_agents_enabled;
    else if (!take_switch(word, "DisableAttachMechanism", &flags->attach_disabled))
        take_archive(flags, word);
}

/* Options of the launcher whose value is the next word. */
bool flag_words_has_value(const char *word)
{
    static const char *const names[] = { "-cp",
                                         "-classpath",
                                         "--class-path",
                                         "-p",
                                         "--module-path",
                                         "--upgrade-module-path",
                                         "--add-modules",
                                         "--limit-modules",
                                         "--patch-module",
                                         "--add-opens",
                                         "--add-exports",
                                         "--add-reads",
                                         "--enable-native-access",
                                         "--source",
                                         "-splash",
                                         NULL };
    return text_is_among(word, names);
}

/* The JVM prints something, and ends without a call of main. */
static bool only_prints(const char *word)
{
    static const char *const names[] = { "-version",
                                         "--version",
                                         "-fullversion",
                                         "--full-version",
                                         "-help",
                                         "--help",
                                         "-h",
                                         "-?",
                                         "-X",
                                         "--help-extra",
                                         "--dry-run",
                                         "--list-modules",
                                         "-d",
                                         "--describe-module",
                                         "--validate-modules",
                                         NULL };
    return text_is_among(word, names);
}

bool flag_words_end(const char *word)
{
    return (word[0] != '-' && word[0] != '@') || strcmp(word, "-jar") == 0 || strcmp(word, "-m") == 0 ||
           strcmp(word, "--module") == 0;
}

void jvm_flags_command(struct jvm_flags *flags, const char *words, size_t n)
{
    const char *end = words + n, *word = words;
    bool skip = true; /* the program itself */
    for (; word < end; word += strnlen(word, (size_t)(end - word)) + 1) {
        if (memchr(word, '\0', (size_t)(end - word)) == NULL)
            return;
        if (!skip && flag_words_end(word))
            return;
        if (!skip)
            flag_words_take(flags, word);
        skip = !skip && flag_words_has_value(word);
    }
}

const char *jvm_flags_main(const char *words, size_t n)
{
    const char *end = words + n, *word = words;
    bool skip = true; /* the program itself */
    for (; word < end; word += strlen(word) + 1) {
        if (memchr(word, '\0', (size_t)(end - word)) == NULL)
            return NULL;
        if (!skip && flag_words_end(word))
            break;
        skip = !skip && flag_words_has_value(word);
    }
    if (word < end && word[0] == '-')
        word += strlen(word) + 1;
    return word < end && memchr(word, '\0', (size_t)(end - word)) != NULL && word[0] != '\0' ? word : NULL;
}

bool jvm_flags_runs(const char *words, size_t n)
{
    const char *end = words + n, *word = words;
    bool skip = true, has_file = false; /* skip: the program itself */
    for (; word < end && memchr(word, '\0', (size_t)(end - word)) != NULL; word += strlen(word) + 1) {
        if (!skip && flag_words_end(word))
            return true;
        if (!skip && only_prints(word))
            return false;
        has_file |= !skip && word[0] == '@';
        skip = !skip && flag_words_has_value(word);
    }
    return has_file;
}

const char *jvm_flags_prefix(const char *path)
{
    static const char *const tools[] = { "javac", "javadoc", "jlink", "jpackage", "jshell", NULL };
    const char *name = text_base_name(path);
    return strcmp(name, "java") == 0 ? "" : text_is_among(name, tools) ? "-J" : NULL;
}

void jvm_flags_told(struct jvm_flags *flags, const char *text)
{
    char word[1024];
    while (*text != '\0') {
        size_t n = strcspn(text, " \t\n");
        snprintf(word, sizeof word, "%s%.*s", *text == '-' ? "" : "-XX:", (int)(n < 1000 ? n : 1000), text);
        flag_words_take(flags, word);
        text += n;
        text += strspn(text, " \t\n");
    }
}

void jvm_flags_environment(struct jvm_flags *flags, const char *variables, size_t n)
{
    static const char *const names[] = { "JAVA_TOOL_OPTIONS=", "JDK_JAVA_OPTIONS=", "_JAVA_OPTIONS=" };
    const char *end = variables + n;
    for (const char *at = variables; at < end; at += strlen(at) + 1) {
        if (memchr(at, '\0', (size_t)(end - at)) == NULL)
            return;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (text_begins(at, names[i]))
                jvm_flags_told(flags, at + strlen(names[i]));
    }
}
