import { expect, it } from "vitest";
import { organizationWithout, typeIn } from "../../plugin/names.ts";
import { keyFrom } from "../../pulumi/urn.ts";

const urn = (types: string, name = "x") => `urn:pulumi:dev::shop::${types}::${name}`;

it("the key of a resource is that of the dynamic resource of the same name", () => {
  expect(keyFrom(urn("irm:index:Group", "a::b"), "acme")).toBe("acme/shop/dev/Group::a::b");
  expect(keyFrom(urn("pulumi-nodejs:dynamic/irm:Group"), "acme")).toBe("acme/shop/dev/Group::x");
  expect(keyFrom(urn("my:mod:Team$irm:index:AccessPolicy$irm:index:RoleBindingSet"), "acme")).toBe(
    "acme/shop/dev/my:mod:Team$AccessPolicy$RoleBindingSet::x",
  );
  expect(keyFrom(urn("irm:index:Group$irm:index:Identity"), "acme")).toBe("acme/shop/dev/Group$Identity::x");
});

it("the key of a resource has the one organization of a backend of one's own, and the provider's id in Pulumi Cloud", () => {
  const home = { PULUMI_HOME: "/nowhere" };
  expect(organizationWithout("id-1", { PULUMI_BACKEND_URL: "s3://bucket" }, "/")).toBe("organization");
  expect(organizationWithout("id-1", { PULUMI_BACKEND_URL: "https://api.pulumi.com" }, "/")).toBe("~id-1");
  expect(organizationWithout("id-1", home, "/")).toBe("~id-1");
});

it("the type in a URN is that of our resources in either form", () => {
  expect(typeIn(urn("a:b:C$irm:index:RoleBinding"))).toBe("RoleBinding");
  expect(typeIn(urn("irm:index:AccessPolicy"))).toBe("AccessPolicy");
  expect(() => typeIn("urn:other")).toThrow(TypeError);
});
