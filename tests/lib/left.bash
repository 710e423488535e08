# left.bash - what a run of tests leaves behind on the machine, and whose it is.
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Other runs may be under way on the same machine, in other checkouts, so a new
# thing counts only if it belongs to this run:
#   a process     its environment has the SEEP_RUN of this run
#   a file        it is in the TMPDIR of this run, its name holds the number of
#                 this run, or its contents name this checkout or that TMPDIR
#   a mount       its place is one of these
#   a cgroup      its name holds the number of this run
#   the checkout  a path outside of build/ that was not there before
# With SEEP_ALONE=1, on a machine where nothing else happens (tools/fresh.sh),
# every new file and mount counts, and so does a changed file.
#
# left_begin WORK, then the tests, then left_end: a line for each, on stdout.

left_places=(/tmp /var/tmp /dev/shm "/dev/shm/seep-$(id -u)")

left_files() { find "${left_places[@]}" -mindepth 1 -maxdepth 1 2>/dev/null | sort -u; }
left_mounts() { cut -d' ' -f5 /proc/self/mountinfo | sort -u; }
left_checkout() {
	local what='%p\n'
	[[ -z ${SEEP_ALONE:-} ]] || what='%p %s %T@\n'
	find . \( -path ./build -o -path ./.git \) -prune -o ! -type d -printf "$what" | sort
}

# left_begin WORK: WORK is a directory of this run alone; sets and exports TMPDIR
left_begin() {
	left_work=$1
	chmod 711 "$left_work" # nobody may come through
	export TMPDIR=$left_work/t
	mkdir -m 1777 "$TMPDIR"
	chmod 1777 "$TMPDIR"
	left_files >"$left_work/files"
	left_mounts >"$left_work/mounts"
	left_checkout >"$left_work/checkout"
}

# Is this file, new since the beginning, one of ours?
left_is_ours() {
	[[ -e $1 || -L $1 ]] || return 1
	[[ -z ${SEEP_ALONE:-} ]] || return 0
	# another run has its own number, and looks after its files itself
	if [[ $1 =~ /seep(-test)?\.([0-9]+)\.[[:alnum:]]{6}$ && ${BASH_REMATCH[2]} -ne 0 ]]; then
		[[ ${BASH_REMATCH[2]} -eq $SEEP_RUN ]]
		return
	fi
	timeout 20 grep -rqsaF -e "$PWD/" -e "$left_work" --devices=skip -- "$1"
}

left_now() {
	local what
	find "$TMPDIR" -mindepth 1 -maxdepth 1 -printf 'file %p (%s bytes, %t)\n'
	while read -r what; do
		# the default place of segments is made by whoever needs it first
		[[ $what == @("$left_work"|"/dev/shm/seep-$(id -u)") ]] || ! left_is_ours "$what" ||
			echo "file $what ($(stat -c '%s bytes, %.19y' "$what" 2>/dev/null))"
	done < <(comm -13 "$left_work/files" <(left_files))
	while read -r what; do
		[[ -z ${SEEP_ALONE:-} && $what != "$left_work"* && $what != *seep-test.$SEEP_RUN.* &&
			$what != "$PWD"/* ]] || echo "mount $what"
	done < <(comm -13 "$left_work/mounts" <(left_mounts))
	find /sys/fs/cgroup -maxdepth 8 -type d -name "seep-test-$SEEP_RUN-*" -printf 'cgroup %p\n' 2>/dev/null
	comm -13 "$left_work/checkout" <(left_checkout) | sed 's/^/checkout /'
}

# left_running: processes of this run, but for the shell that asks
left_running() {
	local -a all=(/proc/[0-9]*/environ) # before grep, which would find itself
	local pid words
	while IFS=/ read -r _ _ pid _; do
		words=$(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline") || continue
		[[ -z $words ]] || echo "process $pid ${words:0:200}" # else: a zombie
	done < <(grep -lszx "SEEP_RUN=$SEEP_RUN" "${all[@]}")
} 2>/dev/null

# Is it by its name that of this run? Contents that name this checkout may as well
# be the notes of somebody who works on it.
left_may_remove() {
	[[ $1 == "$left_work"/* || $1 == *seep?(-test).$SEEP_RUN.* ]]
}

# left_end: what is left LEFT_SECONDS (10) after the last test, and is ours. What
# has the name of this run is removed; a process is ended by its pid. All else
# stays, for whoever made it.
left_end() {
	local found kind what begin=$SECONDS
	while
		found=$(left_running && left_now)
		[[ -n $found && $((SECONDS - begin)) -lt ${LEFT_SECONDS:-10} ]]
	do
		sleep 0.5
	done
	[[ -n $found ]] || return 0
	echo "$found"
	while read -r kind what; do
		case $kind in
		file) ! left_may_remove "${what% (*}" || rm -rf --one-file-system "${what% (*}" ;;
		process) kill -KILL "${what%% *}" 2>/dev/null ;;
		cgroup) rmdir "$what" 2>/dev/null ;;
		mount) ! left_may_remove "$what" || umount "$what" 2>/dev/null ;;
		esac
	done <<<"$found"
}
