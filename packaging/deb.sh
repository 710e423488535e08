#!/bin/bash
# deb.sh - Debian packages of a release, checked by lintian.
# SPDX-License-Identifier: Apache-2.0
#
# usage: packaging/deb.sh build/seep-VERSION.tar.gz build/deb
#
# The release is unpacked below build/deb; its debian/ is packaging/debian, with
# a changelog made of the version and the date of the release. The maintainer is
# DEBFULLNAME and DEBEMAIL, as for all of Debian's tools, where both are set; the
# address in debian/control is one that nobody can have.
set -euo pipefail
release=$(realpath "$1") to=$(realpath -m "$2")
here=$(cd "$(dirname "$0")" && pwd)
name=$(basename "$release" .tar.gz)
version=${name#seep-}

rm -rf "$to"
mkdir -p "$to"
tar -xzf "$release" -C "$to"
cd "$to/$name"
cp -r "$here/debian" debian
if [[ -n ${DEBFULLNAME:-} && -n ${DEBEMAIL:-} ]]; then
	awk -v by="Maintainer: $DEBFULLNAME <$DEBEMAIL>" \
		'/^Maintainer:/ { $0 = by } { print }' debian/control >control.new
	mv control.new debian/control
fi
when=$(stat -c %Y VERSION)
cat >debian/changelog <<END
seep ($version) unstable; urgency=medium

  * Release $version; /usr/share/doc/seep/CHANGELOG.md of seep-doc lists
    the changes.

 -- $(sed -n 's/^Maintainer: //p' debian/control)  $(LC_ALL=C date -u -R -d "@$when")
END

export SOURCE_DATE_EPOCH=$when DEB_BUILD_OPTIONS="parallel=${JOBS:-2} ${DEB_BUILD_OPTIONS:-}"
dpkg-buildpackage --build=binary --no-sign -rfakeroot >"$to/build.log" 2>&1 || {
	tail -n 40 "$to/build.log" >&2
	echo "deb.sh: the build failed, see $to/build.log" >&2
	exit 1
}
cd "$to"
# root is fine in a container: lintian runs nothing of the packages
lintian --fail-on error,warning --tag-display-limit 0 --allow-root ./*.changes
rm -rf "${to:?}/$name"
ls ./*.deb
