// Which folder a path is in, for all that a change under review must not reach, and where its Pulumi project begins.
import path, { type posix } from "node:path";

/** The folder itself is within it. Both are absolute and without links. */
export const isWithin = (folder: string, file: string): boolean => {
  const way = path.relative(folder, file);
  return way !== ".." && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way);
};

/** As the engine names them. */
const PROJECTS = ["Pulumi.yaml", "Pulumi.yml", "Pulumi.json"];

/** The folder of the Pulumi project that `folder` is in; undefined where there is none. */
export const projectFolder = (
  folder: string,
  has: (file: string) => boolean,
  { dirname, join }: Pick<typeof posix, "dirname" | "join"> = path,
): string | undefined => {
  for (let at = folder; ; at = dirname(at)) {
    if (PROJECTS.some((name) => has(join(at, name)))) return at;
    if (dirname(at) === at) return undefined;
  }
};
