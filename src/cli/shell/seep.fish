# fish completion for seep, made by "seep completions fish"
# SPDX-License-Identifier: Apache-2.0

function __seep_pids
    seep ls --pids 2>/dev/null
end

function __seep_commands
    #@ commands
end

# is the command of this line one of these?
function __seep_is
    set -l words (commandline -opc)
    set -q words[2]; and contains -- $words[2] $argv
end

# is it this one, and the program it runs not yet named? OPTION... take a word
function __seep_before_program # COMMAND OPTION...
    set -l words (commandline -opc)
    set -q words[2]; and test $words[2] = $argv[1]; or return 1
    set -l skip 0
    for word in $words[3..-1]
        if test $skip -gt 0
            set skip 0
        else if contains -- $word $argv[2..-1]
            set skip 1
        else if not string match -q -- '-*' $word
            return 1
        end
    end
end

function __seep_starts
    test (count (commandline -opc)) -eq 1
end

complete -c seep -f
complete -c seep -n __seep_starts -s h -l help -d 'the list of commands'
complete -c seep -n __seep_starts -l version -d 'which seep this is'
complete -c seep -n __seep_starts -a '(__seep_commands)'
#@ options
