// What programs in YAML, Python and Go need: the plugin, and the hosts of these languages. Vitest gives it to the tests, and a long proof, which
// runs without Vitest, to itself.

export interface LanguageHosts {
  pluginFolder: string;
  languagesEngine: string | undefined;
  /** null where programs in Go are left out */
  goEngine?: string | undefined | null;
  pythonSdk: { folder?: string; reason?: string };
  pythonWheel: string;
}

let own: LanguageHosts | undefined;

/** Once, before a program is created. */
export const useLanguageHosts = (hosts: LanguageHosts): void => {
  own = hosts;
};

// Vitest cannot be imported outside of a test.
const vitest = process.env.VITEST === undefined ? undefined : await import("vitest");

export const languageHost = <Name extends keyof LanguageHosts>(name: Name): LanguageHosts[Name] => {
  if (own !== undefined) return own[name];
  if (vitest === undefined) throw new Error("useLanguageHosts was not called");
  return vitest.inject(name) as LanguageHosts[Name];
};
