// Whether a path is inside a folder, and where its Pulumi project begins. A review uses both for files that a change must not reach.
import path, { type posix } from "node:path";

/** Whether the file is the folder, or inside it. Both paths are absolute and free of symbolic links. */
export const isWithin = (folder: string, file: string): boolean => {
  const relative = path.relative(folder, file);
  return relative !== ".." && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
};

/** The names of project files that the engine accepts. */
export const PROJECT_FILES = ["Pulumi.yaml", "Pulumi.yml", "Pulumi.json"];

/** The folder of the Pulumi project that contains `folder`; undefined if there is none. */
export const projectFolder = (
  folder: string,
  has: (file: string) => boolean,
  { dirname, join }: Pick<typeof posix, "dirname" | "join"> = path,
): string | undefined => {
  for (let at = folder; ; at = dirname(at)) {
    if (PROJECT_FILES.some((name) => has(join(at, name)))) return at;
    if (dirname(at) === at) return undefined;
  }
};
