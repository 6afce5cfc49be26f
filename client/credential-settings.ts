// Settings that name where the credentials are: a variable of the environment, or a file. So the settings hold no secret. They replace
// the usual variables, for a program with two providers.

export type Env = Readonly<Record<string, string | undefined>>;

/** Where credentials are looked for. */
export interface CredentialSource {
  env: Env;
  /** IRM_TOKEN → its name in messages; absent: the variable's name */
  names?: Readonly<Record<string, string>>;
  /** the problem of a setting that names a credential which does not exist */
  missing?: string;
  /** the token may be an API token or the workload's own: its content tells which */
  isEither?: boolean;
}

/** Setting → the variable that it stands for. */
export const CREDENTIAL_SETTINGS: Readonly<Record<string, string>> = {
  tokenEnv: "IRM_TOKEN",
  tokenFile: "IRM_TOKEN_FILE",
  identityTokenEnv: "IRM_IDENTITY_TOKEN",
  identityTokenFile: "IRM_IDENTITY_TOKEN_FILE",
  // Only an explicit provider has it, because its arguments may be secret.
  token: "IRM_TOKEN",
};

/** All variables that hold, or lead to, a credential. */
export const CREDENTIAL_VARIABLES = [
  "IRM_TOKEN",
  "IRM_TOKEN_FILE",
  "IRM_IDENTITY_TOKEN",
  "IRM_IDENTITY_TOKEN_FILE",
  "ACTIONS_ID_TOKEN_REQUEST_URL",
  "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
];

interface Setting {
  name: string;
  value: string;
  /** for messages: `provider acme: tokenEnv` */
  place: string;
}

/** `given`: the settings that are present. The source is undefined if there are none: the usual variables count. */
export const credentialSource = (
  given: readonly Setting[],
  env: Env,
): { source: CredentialSource | undefined; problems: string[] } => {
  const [setting, ...others] = given;
  if (!setting) return { source: undefined, problems: [] };
  if (others.length > 0) {
    const names = given.map(({ place }) => place).join("; ");
    return { source: undefined, problems: [`only one of these may be set: ${names}`] };
  }
  const { name, value, place } = setting;
  const variable = CREDENTIAL_SETTINGS[name] as string;
  const cleanEnv = { ...env, ...Object.fromEntries(CREDENTIAL_VARIABLES.map((one) => [one, undefined])) };
  const sourceFrom = (token: string, text: string) => ({
    source: {
      env: { ...cleanEnv, [variable]: token },
      names: { [variable]: text },
      isEither: !name.startsWith("identity"),
    },
    problems: [],
  });
  if (!name.endsWith("Env")) return sourceFrom(value, place);
  // The value is not quoted: it may be a token by mistake.
  if (!/^[A-Za-z_]\w*$/.test(value))
    return { source: undefined, problems: [`${place}: must be the name of an environment variable`] };
  const token = env[value];
  if (!token) return { source: { env: cleanEnv, missing: `${place}: the environment has no ${value}` }, problems: [] };
  return sourceFrom(token, `${value} (${place})`);
};
