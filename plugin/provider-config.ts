// The settings of a provider: the arguments of an explicit one, or the stack's `irm:*` for the default one. The environment supplies what
// they omit (docs/reference/provider.md).
import { type Env, parseConfig } from "../client/config.ts";
import type { StackConfig } from "../provider/engine/shared-state.ts";
import { urnFrom } from "../pulumi/urn.ts";
import { containsUnknown, isUnknown } from "../pulumi/value.ts";
import type { Json } from "../schema/index.ts";
import { changeBetween } from "./detailed-diff.ts";
import type { Request } from "./request-type.ts";
import { checkResponse, diffResponse } from "./response.ts";
import { Refusal } from "./status.ts";
import { structFrom } from "./struct.ts";
import { plainFrom, Secret } from "./value.ts";

/** Arguments of every provider that are the engine's. */
const ENGINES_OWN = ["version", "pluginDownloadURL", "__internal", "parameterization"];

// `default`, `default_1_2_3_alpha`, each perhaps with the pluginDownloadURL: `default_https_/example.com` (DefaultName in
// github.com/pulumi/pulumi/blob/master/pkg/resource/deploy/providers/provider.go).
const DEFAULT_NAME = /^default($|_\d+_\d+_\d+(_|$)|_[a-z]+_\/)/;

/** Name of an explicit provider; undefined for the default one. */
const explicitName = (urn: string): string | undefined => {
  const { name } = urnFrom(urn);
  return DEFAULT_NAME.test(name) ? undefined : name;
};

const stackConfigFrom = (urn: string, values: Json): StackConfig => {
  const settings = new Map(
    Object.entries(values).filter(
      ([name, value]) => !ENGINES_OWN.includes(name) && value !== undefined && value !== null,
    ),
  );
  return {
    get: (key) => {
      const value = settings.get(key.replace(/^irm:/, ""));
      return value === undefined ? undefined : String(value);
    },
    rawConfig: Object.fromEntries([...settings.keys()].map((key) => [`irm:${key}`, true])),
    projectName: urnFrom(urn).project,
    provider: explicitName(urn),
  };
};

/** The arguments and their problems. A missing argument is a problem only for a resource that needs it. */
export const checkConfig = ({ urn, news }: Request<"checkConfig">, env: Env) => {
  const values = plainFrom(news);
  const name = explicitName(urn);
  // The check of the resources reports the problems of the default provider, once for all of them.
  if (name === undefined || containsUnknown(values)) return checkResponse(structFrom(news), []);
  const { get, rawConfig = {} } = stackConfigFrom(urn, values);
  const given = { keys: Object.keys(rawConfig), provider: name };
  // The address may come from the environment of a later run.
  const later = get("irm:baseUrl") || env.IRM_BASE_URL ? env : { ...env, IRM_BASE_URL: "https://localhost" };
  const { strictProblems } = parseConfig(get, later, given);
  const failures = strictProblems.map((problem) => {
    const [, property = "", reason = problem] = /^provider .*?: (\w+): (.*)$/s.exec(problem) ?? [];
    return { property, reason };
  });
  return checkResponse(structFrom(news), failures);
};

/** A changed setting is an update of the provider, never a replacement: that would replace all of its resources. */
export const diffConfig = (request: Request<"diffConfig">) => {
  // An engine that sends no old inputs sends them as outputs.
  const before = Object.keys(request.oldInputs).length > 0 ? request.oldInputs : request.olds;
  const [olds, news] = [plainFrom(before), plainFrom(request.news)];
  const names = [...new Set([...Object.keys(olds), ...Object.keys(news)])].filter(
    (name) =>
      name !== "version" && (isUnknown(news[name]) || JSON.stringify(olds[name]) !== JSON.stringify(news[name])),
  );
  const changes = names.map((name) => {
    const change = changeBetween(olds[name], news[name]);
    return [name, { change, isReplacement: false, isInput: true }] as const;
  });
  return diffResponse(names.length > 0, new Map(changes));
};

/** Throws if the state would hold a token in clear text. */
export const configurationFrom = (
  request: Request<"configure">,
): { config: StackConfig; id: string; urn: string; subject: string } => {
  const { args: asked, id } = request;
  const urn = request.urn || "urn:pulumi:-::-::pulumi:providers:irm::default";
  const { provider: name } = stackConfigFrom(urn, {});
  if (name !== undefined && asked.token !== undefined && !(asked.token instanceof Secret))
    throw new Refusal(`provider ${name}: token: must be a secret, or the state holds it in clear text`);
  const subject = name === undefined ? "the default provider" : `provider ${urn}`;
  return { config: stackConfigFrom(urn, plainFrom(asked)), id, urn, subject };
};
