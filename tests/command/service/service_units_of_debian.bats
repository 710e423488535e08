#!/usr/bin/env bats
# service_units_of_debian - in a real systemd, Debian's units of nfs-ganesha, h2o, redis, nginx and php-fpm are traced, crash, and are left as they were.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash
load ../../systemd/systemd.bash
load ../../lib/service_real.bash

setup_file() {
	systemd_boot "" "$BATS_TEST_DIRNAME/../../systemd/fastcgi.py" "$BATS_TEST_DIRNAME/../../systemd/rpc_null.py"
}
teardown_file() { systemd_end; }

@test "nfs-ganesha: the daemon behind bash -c, which --only names" {
	systemd_needed
	need ganesha.nfsd
	ONLY=ganesha.nfsd lives_and_leaves nfs-ganesha ganesha.nfsd "$PYTHON" /opt/seep/rpc_null.py 127.0.0.1 2049 50
	grep -qx '50 answers' "$T/load"
	grep -q 'SEEP_ONLY=ganesha.nfsd$' "$T/status"
}

@test "redis: strict, without CAP_*, RemoveIPC=yes, NoExecPaths=/, jemalloc" {
	systemd_needed
	need redis-benchmark
	# it starts again by itself, and is traced again
	lives_and_leaves redis-server redis-check-rdb redis-benchmark -n 2000 -q -t set,get,lpush
	grep -q 'libseep-jemalloc.so' "$T/status"
	grep -q 'zmalloc\|je_malloc\|malloc' "$T/report"
}

# bats test_tags=full
@test "h2o: the workers below its start_server" {
	systemd_needed
	need h2o
	inside mkdir -p /var/www
	lives_and_leaves h2o h2o bash -c 'for i in {1..50}; do curl -sf http://127.0.0.1/server-status/json; done'
}

# bats test_tags=full
@test "nginx: a master and its workers, which become another user" {
	systemd_needed
	need nginx
	lives_and_leaves nginx nginx bash -c 'for i in {1..50}; do curl -s http://127.0.0.1/; done'
}

# bats test_tags=full
@test "php-fpm: a pool of another user" {
	systemd_needed
	local unit
	unit=$(basename /lib/systemd/system/php*-fpm.service .service)
	inside mkdir -p /run/php
	inside bash -c 'echo "<?php \$x = range(1, 100000); echo count(\$x), \"\n\";" >/opt/seep/x.php; chmod 644 /opt/seep/x.php'
	# shellcheck disable=SC2016
	lives_and_leaves "$unit" 'php-fpm[0-9.]*' bash -c 'python3 /opt/seep/fastcgi.py $(ls /run/php/php*-fpm.sock | tail -1) /opt/seep/x.php 30'
	grep -q 100000 "$T/load"
}
