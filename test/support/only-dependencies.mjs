// For `node --import`: a process that fails where it loads a package that is not a dependency of this one. Those for development, and those of
// a program, are not there where the GitHub Action has installed it.
import { readFileSync } from "node:fs";
import { isBuiltin, registerHooks } from "node:module";

const root = new URL("../../", import.meta.url);
const { dependencies } = JSON.parse(readFileSync(new URL("package.json", root), "utf8"));

registerHooks({
  resolve(specifier, context, next) {
    const isOwn = context.parentURL?.startsWith(root.href) && !context.parentURL.includes("/node_modules/");
    const [, name = specifier] = /^((?:@[^/]+\/)?[^/]+)/.exec(specifier) ?? [];
    const isPackage = !/^[./]|^\w+:/.test(specifier) && !isBuiltin(specifier);
    if (isOwn && isPackage && !Object.hasOwn(dependencies, name)) throw new Error(`${specifier} is no dependency`);
    return next(specifier, context);
  },
});
