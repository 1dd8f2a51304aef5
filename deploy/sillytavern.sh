#!/bin/sh
# Start SillyTavern with the extension in place, brought up to date if it was there already.
set -eu
data=${DATA:-/data}
extension=${EXTENSION:-/opt/extension}
program=${PROGRAM:-/opt/sillytavern/node_modules/sillytavern}

mkdir -p "$data/default-user/extensions"
rm -rf "$data/default-user/extensions/plastic-memories"
cp -R "$extension" "$data/default-user/extensions/plastic-memories"
cd "$program"
exec node server.js --configPath "$data/config.yaml" --dataRoot "$data" --port "${PORT:-8000}" \
    --listen --browserLaunchEnabled false
