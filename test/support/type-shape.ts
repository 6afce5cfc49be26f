// The shape of the types of a program, read with the compiler: each member by its path, `?` after what may be left out, with the
// kind of its value. Inputs and outputs count as their values; a resource stands for its uid.
import { join } from "node:path";
import ts from "typescript";
import { root } from "../harness/api-process.ts";

/** `claimMatch?.issuer?` → `string` */
export type Shape = Record<string, string>;

export type TypeReader = ReturnType<typeof readTypes>;

export const readTypes = (file: string) => {
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  const path = join(root, file);
  const program = ts.createProgram([path], { ...options, incremental: false, tsBuildInfoFile: undefined });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(path) as ts.SourceFile;
  const resolveAlias = (symbol: ts.Symbol): ts.Symbol =>
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const module = checker.getSymbolAtLocation(source) as ts.Symbol;
  const exports = new Map(checker.getExportsOfModule(module).map((symbol) => [symbol.name, resolveAlias(symbol)]));
  const exportedSymbol = (name: string): ts.Symbol => {
    const symbol = exports.get(name);
    if (symbol === undefined) throw new TypeError(`${file} exports no ${name}`);
    return symbol;
  };

  const argumentsOf = (type: ts.Type): readonly ts.Type[] => checker.getTypeArguments(type as ts.TypeReference);
  const isNamed = (type: ts.Type, ...names: string[]): boolean => names.includes(type.symbol?.name);

  /** The types of the value itself: no promise, no output, no resource in its place. */
  const valuesOf = (type: ts.Type): ts.Type[] => {
    if (type.isIntersection()) {
      const output = type.types.find((one) => isNamed(one, "OutputInstance"));
      if (output) return valuesOf(argumentsOf(output)[0] as ts.Type);
    }
    if (isNamed(type, "OutputInstance", "Promise")) return valuesOf(argumentsOf(type)[0] as ts.Type);
    if (type.isUnion()) return type.types.flatMap(valuesOf);
    const isAbsent = (type.flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Never)) !== 0;
    return isAbsent || type.getProperty("urn") ? [] : [type];
  };

  const mayBeAbsent = (type: ts.Type): boolean => {
    if (type.isIntersection() || isNamed(type, "OutputInstance", "Promise")) {
      const parts = type.isIntersection() ? type.types : [type];
      const output = parts.find((one) => isNamed(one, "OutputInstance", "Promise"));
      return output !== undefined && mayBeAbsent(argumentsOf(output)[0] as ts.Type);
    }
    return type.isUnion() ? type.types.some(mayBeAbsent) : (type.flags & ts.TypeFlags.Undefined) !== 0;
  };

  const isOptional = (symbol: ts.Symbol): boolean =>
    (symbol.flags & ts.SymbolFlags.Optional) !== 0 || mayBeAbsent(checker.getTypeOfSymbol(symbol));

  const scalarOf = (types: readonly ts.Type[]): string | undefined => {
    const has = (flags: ts.TypeFlags) => types.every((one) => (one.flags & flags) !== 0);
    if (has(ts.TypeFlags.StringLike)) return "string";
    if (has(ts.TypeFlags.NumberLike)) return "number";
    return has(ts.TypeFlags.BooleanLike) ? "boolean" : undefined;
  };

  const shape = (type: ts.Type, prefix = ""): Shape => {
    const types = valuesOf(type);
    const scalar = scalarOf(types);
    if (scalar !== undefined) return { [prefix]: scalar };
    const lists = types.filter((one) => checker.isArrayType(one));
    if (lists.length > 0) return shape(argumentsOf(lists[0] as ts.Type)[0] as ts.Type, `${prefix}[]`);
    const [index] = types.flatMap((one) => checker.getIndexTypeOfType(one, ts.IndexKind.String) ?? []);
    if (index) return shape(index, `${prefix}{}`);
    return membersOf(types, prefix);
  };

  const membersOf = (types: readonly ts.Type[], prefix: string): Shape => {
    const names = new Set(types.flatMap((one) => checker.getPropertiesOfType(one).map(({ name }) => name)));
    const members = [...names].map((name) => {
      const found = types.map((one) => checker.getPropertyOfType(one, name));
      const given = found.filter((one) => one !== undefined && valuesOf(checker.getTypeOfSymbol(one)).length > 0);
      const [first] = given as ts.Symbol[];
      if (first === undefined) return {};
      const optional = given.length < types.length || (given as ts.Symbol[]).some(isOptional);
      const path = `${prefix === "" ? "" : `${prefix}.`}${name}${optional ? "?" : ""}`;
      return shape(checker.getTypeOfSymbol(first), path);
    });
    return Object.assign({}, ...members);
  };

  return {
    /** what a file exports, by name */
    exports,
    /** of an interface, a type alias or a class */
    declared: (name: string): ts.Type => checker.getDeclaredTypeOfSymbol(exportedSymbol(name)),
    /** the first one of a function */
    parameter: (name: string): ts.Type => {
      const [signature] = checker.getTypeOfSymbol(exportedSymbol(name)).getCallSignatures();
      const [parameter] = signature?.getParameters() ?? [];
      if (parameter === undefined) throw new TypeError(`${name} takes nothing`);
      return checker.getTypeOfSymbol(parameter);
    },
    shape,
    /** of the outputs of a resource, without those of the SDK */
    outputs: (type: ts.Type): Shape => {
      const { id: _id, urn: _urn, getProvider: _getProvider, ...outputs } = membersOf([type], "");
      return outputs;
    },
  };
};
