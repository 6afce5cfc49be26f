// Settings that say where the credentials are: a variable of the environment or a file, by name, so that no secret is in the settings.
// They replace the usual variables, for a program with two providers.

export type Env = Readonly<Record<string, string | undefined>>;

/** Where credentials are looked for. */
export interface CredentialSource {
  env: Env;
  /** IRM_TOKEN → what a message calls it; absent: by that name */
  names?: Readonly<Record<string, string>>;
  /** why there are none, where a setting names one that does not exist */
  missing?: string;
  /** a token may be an API token or the workload's own: its content says which */
  isEither?: boolean;
}

/** Setting → the variable that it stands for. */
export const CREDENTIAL_SETTINGS: Readonly<Record<string, string>> = {
  tokenEnv: "IRM_TOKEN",
  tokenFile: "IRM_TOKEN_FILE",
  identityTokenEnv: "IRM_IDENTITY_TOKEN",
  identityTokenFile: "IRM_IDENTITY_TOKEN_FILE",
  // Only of an explicit provider, whose arguments may be secret.
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

/** `given` are those that are set. Undefined where none is: the usual variables count. */
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
  const own = { ...env, ...Object.fromEntries(CREDENTIAL_VARIABLES.map((one) => [one, undefined])) };
  const found = (token: string, text: string) => ({
    source: {
      env: { ...own, [variable]: token },
      names: { [variable]: text },
      isEither: !name.startsWith("identity"),
    },
    problems: [],
  });
  if (!name.endsWith("Env")) return found(value, place);
  // The value is not quoted: it may be a token by mistake.
  if (!/^[A-Za-z_]\w*$/.test(value))
    return { source: undefined, problems: [`${place}: must be the name of an environment variable`] };
  const token = env[value];
  if (!token) return { source: { env: own, missing: `${place}: the environment has no ${value}` }, problems: [] };
  return found(token, `${value} (${place})`);
};
