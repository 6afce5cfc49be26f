// The files of a release beside the npm package: the plugin as `pulumi plugin install --file` takes it.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createTarGzip } from "nanotar";

/** The same bytes from each build: no time, no user. */
const attributes = { uid: 0, gid: 0, mtime: 0 };

/** Writes `pulumi-resource-irm-v1.2.3.tar.gz`, the same for each platform, and returns its name. */
export async function writePluginTarball(plugin: string, version: string, folder: string): Promise<string> {
  const names = (await readdir(plugin)).toSorted();
  const files = names.map(async (name) => {
    const data = await readFile(join(plugin, name));
    const mode = data.subarray(0, 2).toString() === "#!" ? "755" : "644";
    return { name, data, attrs: { ...attributes, mode } };
  });
  const file = `pulumi-resource-irm-v${version}.tar.gz`;
  await writeFile(join(folder, file), await createTarGzip(await Promise.all(files)));
  return file;
}
