// The length of a key's signatures. The standards fix it, but not every library checks it: OpenSSL accepts an RSA-PSS signature
// without its leading zero bytes, so one token would have several spellings.
import type { KeyObject } from "node:crypto";

// r and s, each as long as the order of the curve (RFC 7518 section 3.4).
const EC_BYTES: Readonly<Record<string, number>> = { prime256v1: 2 * 32, secp384r1: 2 * 48, secp521r1: 2 * 66 };
/** RFC 8032 section 5.1.6 */
const ED25519_BYTES = 64;

/** True when the last part of a compact token is as long as a signature of the key. */
export const hasSignatureLength = (compact: string, key: KeyObject): boolean => {
  const bytes = Buffer.byteLength(compact.slice(compact.lastIndexOf(".") + 1), "base64url");
  return bytes === signatureBytes(key);
};

const signatureBytes = ({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): number | undefined => {
  // As long as the modulus (RFC 8017, sections 8.1.2 and 8.2.2).
  if (type === "rsa") return Math.ceil((details?.modulusLength ?? Number.NaN) / 8);
  if (type === "ec") return EC_BYTES[details?.namedCurve ?? ""];
  return type === "ed25519" ? ED25519_BYTES : undefined;
};
