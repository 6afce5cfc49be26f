// Kubernetes: https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/. The subject names the namespace
// and the service account; the issuer is the cluster's own.
import {
  audienceField,
  type ClaimMatchRelationship,
  issuerField,
  type Preset,
  presetFunction,
  segment,
  subjectOf,
} from "./preset.ts";

/** A service account of a cluster. */
export interface KubernetesArgs {
  /** The cluster's issuer: `kubectl get --raw /.well-known/openid-configuration` shows it */
  issuer: string;
  /** Name of the namespace; `team-*` for several */
  namespace: string;
  /** Name of the service account; `*` for every one of the namespace */
  serviceAccount: string;
  /** `aud` of the token; default: what this service accepts by itself */
  audience?: string;
}

const relationship = ({ issuer, namespace, serviceAccount, audience }: KubernetesArgs) => ({
  claimMatch: {
    issuer,
    ...subjectOf(`system:serviceaccount:${namespace}:${serviceAccount}`),
    audience,
  },
});

const { optional: _, ...issuer } = issuerField(
  "the cluster's issuer: kubectl get --raw /.well-known/openid-configuration shows it",
);

export const kubernetesPreset: Preset<KubernetesArgs, ClaimMatchRelationship> = {
  title: "Kubernetes",
  fields: {
    issuer,
    namespace: { description: "name of the namespace; team-* for several", violation: segment },
    serviceAccount: {
      description: "name of the service account; * for every one of the namespace",
      violation: segment,
    },
    audience: audienceField,
  },
  conflicts: ({ namespace = "", serviceAccount = "" }) =>
    /^\*+$/.test(namespace) && /^\*+$/.test(serviceAccount)
      ? [
          {
            field: "serviceAccount",
            text: "matches every pod of the cluster, together with namespace; name one of them",
          },
        ]
      : [],
  relationship,
};

/**
 * Assumed by the pods of a service account. Errors: an argument that breaks a rule is a TypeError that names each problem.
 *
 * @example
 * ```ts
 * new Identity("ci", { parent: platform, name: "ci", ...kubernetes({ issuer: "https://k8s.acme.example", namespace: "prod", serviceAccount: "deployer" }) });
 * ```
 */
export const kubernetes = presetFunction("kubernetes", kubernetesPreset);
