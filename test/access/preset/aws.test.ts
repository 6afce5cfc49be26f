// Principals as published: https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html. The reference server
// does not sign AWS principals in, so the patterns are matched alone.
import { describe, expect, test } from "vitest";
import { type AwsRelationship, aws } from "../../../access/preset/index.ts";
import { Identity, patternMatcher } from "../../../schema/index.ts";
import { inputViolations } from "../../../schema/input.ts";

interface Principal {
  Account: string;
  Arn: string;
  UserId: string;
}

const samples: Record<string, Principal> = {
  role: {
    Account: "123456789012",
    Arn: "arn:aws:sts::123456789012:assumed-role/my-role-name/my-role-session-name",
    UserId: "AROA123EXAMPLE123:my-role-session-name",
  },
  "another session": {
    Account: "123456789012",
    Arn: "arn:aws:sts::123456789012:assumed-role/my-role-name/i-0abc",
    UserId: "AROA123EXAMPLE123:i-0abc",
  },
  "a role of a longer name": {
    Account: "123456789012",
    Arn: "arn:aws:sts::123456789012:assumed-role/my-role-name-2/s",
    UserId: "AROA999EXAMPLE123:s",
  },
  "a new role of the same name": {
    Account: "123456789012",
    Arn: "arn:aws:sts::123456789012:assumed-role/my-role-name/my-role-session-name",
    UserId: "AROA999EXAMPLE999:my-role-session-name",
  },
  "another account": {
    Account: "999999999999",
    Arn: "arn:aws:sts::999999999999:assumed-role/my-role-name/my-role-session-name",
    UserId: "AROA123EXAMPLE124:my-role-session-name",
  },
  "the role itself": {
    Account: "123456789012",
    Arn: "arn:aws:iam::123456789012:role/my-role-name",
    UserId: "AROA123EXAMPLE123",
  },
  user: { Account: "123456789012", Arn: "arn:aws:iam::123456789012:user/Alice", UserId: "AIDACKCEVSQ6C2EXAMPLE" },
  "user of a team": {
    Account: "123456789012",
    Arn: "arn:aws:iam::123456789012:user/teams/Alice",
    UserId: "AIDACKCEVSQ6C2EXAMPLF",
  },
};

const isMatch = ({ awsIdentity }: AwsRelationship, { Account, Arn, UserId }: Principal): boolean => {
  const { awsAccount, arn, arnPattern = "", userId, userIdPattern = "" } = awsIdentity;
  return (
    awsAccount === Account &&
    (arn === undefined ? patternMatcher(arnPattern)(Arn) : arn === Arn) &&
    (userId === undefined ? patternMatcher(userIdPattern)(UserId) : userId === UserId)
  );
};

const account = "123456789012";

describe("aws matches the published principals of what it names, and not the neighbour:", () => {
  test.each<[string, Parameters<typeof aws>[0], string[]]>([
    ["a role", { account, role: "my-role-name" }, ["role", "another session", "a new role of the same name"]],
    ["a role by its id", { account, role: "my-role-name", uniqueId: "AROA123EXAMPLE123" }, ["role", "another session"]],
    ["a session", { account, role: "my-role-name", session: "i-*" }, ["another session"]],
    [
      "roles by *",
      { account, role: "my-*" },
      ["role", "another session", "a role of a longer name", "a new role of the same name"],
    ],
    ["a user", { account, user: "Alice" }, ["user"]],
    ["a user with a path", { account, user: "teams/Alice" }, ["user of a team"]],
    ["users by *", { account, user: "*" }, ["user"]],
  ])("%s", (_, args, names) => {
    const relationship = aws(args);
    expect(inputViolations(Identity, { name: "deployer", ...relationship })).toEqual([]);
    expect(Object.keys(samples).filter((name) => isMatch(relationship, samples[name] as Principal))).toEqual(names);
  });
});

describe("aws refuses, and says what to write instead:", () => {
  test.each<[object, string]>([
    [{ role: "r" }, "account is required"],
    [{ account: 123456789012, role: "r" }, 'account must be a string: write "123456789012", in quotes'],
    [{ account: "1234", role: "r" }, "account must be twelve digits, in quotes"],
    [{ account, role: "arn:aws:iam::1:role/r" }, "role must be the name alone, not an ARN"],
    [{ account, role: "path/r" }, 'role must not contain "/"'],
    [{ account }, "one of role, user is required"],
    [{ account, user: "u", session: "s" }, "session belongs to a role, not to a user"],
    [{ account, user: "u", uniqueId: "AROA1" }, "uniqueId is the id of a role, not of a user"],
    [{ account, role: "r", partition: "azure" }, "partition must be aws, aws-cn or aws-us-gov"],
  ])("%j", (args, message) => {
    expect(() => aws(args as never)).toThrow(`aws: ${message}`);
  });
});
