# fish completion for seep, made by "seep completions fish"
# SPDX-License-Identifier: Apache-2.0

function __seep_pids
    seep ls --pids 2>/dev/null
end

function __seep_units
    set -l manager --system
    contains -- --user (commandline -opc); and set manager --user
    begin
        systemctl $manager --no-pager --no-legend --type=service list-unit-files
        systemctl $manager --no-pager --no-legend --type=service --all --plain list-units
    end 2>/dev/null | string replace -r ' .*' '' | sort -u
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

# is it this one, and operand N the next? OPTION... take a word
function __seep_at # COMMAND N OPTION...
    set -l words (commandline -opc)
    set -q words[2]; and test $words[2] = $argv[1]; or return 1
    set -l skip 0
    set -l next 1
    for word in $words[3..-1]
        if test $skip -gt 0
            set skip 0
        else if contains -- $word $argv[3..-1]
            set skip 1
        else if not string match -q -- '-*' $word
            set next (math $next + 1)
        end
    end
    test $next -eq $argv[2]
end

function __seep_starts
    test (count (commandline -opc)) -eq 1
end

complete -c seep -f
complete -c seep -n __seep_starts -s h -l help -d 'the list of commands'
complete -c seep -n __seep_starts -l version -d 'which seep this is'
complete -c seep -n __seep_starts -a '(__seep_commands)'
#@ options
