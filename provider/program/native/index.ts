// pulumi-irm/plugin: the names of pulumi-irm, with resources and functions that the native plugin serves, and its provider.
export * from "../generated/native/index.ts";
