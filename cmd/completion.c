/*
 * Completion for shells: short scripts that ask mmprof itself for its commands, options and views, so that there is no
 * second list of them.
 */
#include "cmd/commands.h"

/*
 * What both scripts read: "  profile    find ...", "  -e, --events LIST   count ...", views, JVMs, and behind
 * --format the names of formats.
 */
static const char bash[] =
    "# mmprof in bash: source <(mmprof completion bash)\n"
    "_mmprof() {\n"
    "    local word=$2 before=$3 command=${COMP_WORDS[1]} words=''\n"
    "    if [ \"$COMP_CWORD\" = 1 ]; then\n"
    "        words=$(\"$1\" help | sed -n 's/^  \\([a-z][a-z-]*\\) .*/\\1/p')\n"
    "    elif [ \"$before\" = --view ]; then\n"
    "        words=$(\"$1\" report --views | sed -n 's/^  \\([a-z][a-z]*\\).*/\\1/p')\n"
    "    elif [[ $command == export && ($before == -f || $before == --format) ]]; then\n"
    "        words=$(\"$1\" export --help | sed -n 's/ or / /; s/^ .*--format FORMAT *//p' | tr -s ' ,()' ' ')\n"
    "    elif [[ $before == -p || $before == --pid ]] ||\n"
    "        [[ $COMP_CWORD == 2 && $word != -* && $command =~ ^(profile|record|sample|top|doctor)$ ]]; then\n"
    "        words=$(\"$1\" ps 2> /dev/null | sed -nE 's/^ *([0-9]+) .* ([^ ]+)$/\\1 \\2/p')\n"
    "    elif [[ $word == -* && \" ${COMP_WORDS[*]:0:COMP_CWORD} \" != *' -- '* ]]; then\n"
    "        words=$(\"$1\" \"$command\" --help-all 2> /dev/null | sed -nE 's/^  (-., |    "
    ")(--[a-z][a-z-]*).*/\\2/p')\n"
    "    fi\n"
    "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
    "}\n"
    "complete -o default -F _mmprof mmprof\n";

static const char zsh[] =
    "#compdef mmprof\n"
    "# mmprof in zsh: source <(mmprof completion zsh)\n"
    "_mmprof() {\n"
    "    local -a rows\n"
    "    local before=$words[CURRENT-1]\n"
    "    if (( CURRENT == 2 )); then\n"
    "        rows=(${(f)\"$($words[1] help | sed -nE 's/^  ([a-z-]+) +(.*)/\\1:\\2/p')\"})\n"
    "        _describe command rows\n"
    "    elif [[ $before == --view ]]; then\n"
    "        rows=(${(f)\"$($words[1] report --views | sed -nE 's/^  ([a-z]+)[^ ]* +(.*)/\\1:\\2/p')\"})\n"
    "        _describe view rows\n"
    "    elif [[ $words[2] == export && ($before == -f || $before == --format) ]]; then\n"
    "        rows=(${=\"$($words[1] export --help | sed -n 's/ or / /; s/^ .*--format FORMAT *//p' |\n"
    "            tr -s ' ,()' ' ')\"})\n"
    "        _describe format rows\n"
    "    elif [[ $before == (-p|--pid) ]] ||\n"
    "        [[ $CURRENT == 3 && $words[3] != -* && $words[2] == (profile|record|sample|top|doctor) ]]; then\n"
    "        rows=(${(f)\"$($words[1] ps 2> /dev/null | sed -nE 's/^ *([0-9]+) .* ([^ ]+)$/\\1:\\2/p')\"})\n"
    "        _describe JVM rows\n"
    "    elif [[ $words[CURRENT] == -* && -z ${${(@)words[1,CURRENT-1]}[(r)--]} ]]; then\n"
    "        rows=(${(f)\"$($words[1] $words[2] --help-all 2> /dev/null |\n"
    "            sed -nE 's/^  (-., |    )(--[a-z][a-z-]*)[^ ]*( [A-Z][^ ]*)? +(.*)/\\2:\\4/p')\"})\n"
    "        _describe option rows\n"
    "    else\n"
    "        _files\n"
    "    fi\n"
    "}\n"
    "compdef _mmprof mmprof\n";

int completion_print(const char *shell, struct err *err)
{
    if (shell != NULL && strcmp(shell, "bash") == 0)
        return fputs(bash, stdout) < 0 ? 1 : 0;
    if (shell != NULL && strcmp(shell, "zsh") == 0)
        return fputs(zsh, stdout) < 0 ? 1 : 0;
    err_set(err, "completion is for bash and zsh, not for '%s'", shell == NULL ? "" : shell);
    return err_next(err, "run 'source <(mmprof completion bash)'");
}
