import * as z from 'zod/mini';
import { identifierSchema, languageSchema } from '../api/schema.ts';
import { perspectives } from './perspectives.ts';

/** docs/api.md, section 8. */
export const instructionsSchema = z.string().check(z.minLength(1), z.maxLength(5000));

const uriCharacter = "(?:[\\w.~!$&'()*+,;=-]|%[\\dA-Fa-f]{2})";
const uriText = `(?:${uriCharacter}|[/?:@])*`;

/** A URI (RFC 3986). Unlike the API, allows only http and https, and no user information. */
const urlSchema = z.string().check(
  z.maxLength(5000, { abort: true }),
  z.regex(
    new RegExp(
      `^https?://(?:\\[[\\dA-Fa-f:.]+\\]|${uriCharacter}+)(?::\\d+)?(?:[/?]${uriText})?(?:#${uriText})?$`,
    ),
    { abort: true },
  ),
  z.refine((text) => URL.canParse(text)),
  z.meta({
    patternErrorMessage:
      'This value must be a full URL that begins with http:// or https://, without a user name or password. Percent-encode spaces and other special characters. Write host names with non-ASCII letters in Punycode (xn--…).',
  }),
);

/** docs/api.md, section 8. */
export const targetUrlsSchema = z.array(urlSchema).check(z.minLength(1), z.maxLength(100));

export const oosUrlsSchema = z.array(urlSchema).check(z.maxLength(100));

const credential = {
  id: identifierSchema.check(z.describe('User name or email address that is entered to log in.')),
  role: identifierSchema.check(z.describe('Role of the login, in your own words, such as “buyer”.')),
};

function areLoginsUnique(items: readonly unknown[]): boolean {
  const logins = items.map((item) => {
    const { id, role } = item as { readonly id: string; readonly role: string };
    return JSON.stringify([id, role]);
  });
  return new Set(logins).size === logins.length;
}

/** docs/api.md, section 8. */
export const creditLimits = { minScan: 10, minCrawl: 5, max: 100_000 };

export const scanLimitSchema = z.int().check(z.minimum(creditLimits.minScan), z.maximum(creditLimits.max));
export const crawlLimitSchema = z.int().check(z.minimum(creditLimits.minCrawl), z.maximum(creditLimits.max));

/** The limit of docs/api.md, section 8, counted in UTF-16 code units. */
export const maxPasswordLength = 5000;

export const prioritySchema = z.enum(['high', 'medium', 'low']);

type ToObject = typeof z.strictObject;

/** Members that a later version added to a journal survive a rewrite. */
export const looseObject: ToObject = z.looseObject;

/** The `login` schema has a password only in a request (docs/api.md, section 8). */
function toAuthenticationSchema<Login extends z.ZodMiniType>(toObject: ToObject, login: Login) {
  return toObject({
    credentials: z.optional(
      z
        .array(login)
        // Unlike the API, this requires unique logins: a saved password belongs to one login.
        .check(z.minLength(1), z.maxLength(100), z.refine(areLoginsUnique), z.meta({ uniqueItems: true })),
    ),
    additional_instructions: z.optional(instructionsSchema),
  });
}

/** docs/api.md, sections 2.6 to 2.8. */
function toInputSchemas(toObject: ToObject) {
  const runReference = toObject({ workflow_id: identifierSchema, workflow_run_id: identifierSchema });
  return {
    authentication: toAuthenticationSchema(toObject, toObject(credential)),
    preference: toObject({
      preferences: z
        .array(
          toObject({
            kind: z
              .enum(['DO', 'DONT'])
              .check(z.describe('DO for what the run should do, DONT for what it should avoid.')),
            preference: instructionsSchema,
          }),
        )
        .check(z.minLength(1), z.maxLength(100)),
    }),
    crawlResume: toObject({
      workflow_id: z.literal('blackbox-crawl'),
      workflow_run_id: identifierSchema,
    }),
    assessmentResume: z.discriminatedUnion('kind', [
      toObject({ kind: z.literal('assess_crawled_features'), assess_crawled_features: runReference }),
      toObject({ kind: z.literal('continue_assessment'), continue_assessment: runReference }),
    ]),
    pairs: z
      .array(
        toObject({
          feature_name: instructionsSchema,
          perspective: z.enum(perspectives),
          priority: z.optional(prioritySchema),
        }),
      )
      .check(z.maxLength(10_000)),
  };
}

export const strictSchemas = toInputSchemas(z.strictObject);
const looseSchemas = toInputSchemas(looseObject);

/** Members of `input` in both blackbox requests, with passwords (docs/api.md, section 2.6). */
export const requestInput = {
  target_urls: targetUrlsSchema,
  oos_urls: z.optional(oosUrlsSchema),
  preference: z.optional(strictSchemas.preference),
  language: languageSchema,
  authentication: z.optional(
    toAuthenticationSchema(
      z.strictObject,
      z.strictObject({ ...credential, password: z.string().check(z.maxLength(maxPasswordLength)) }),
    ),
  ),
};

export const applicationInputSchema = looseObject({
  target_urls: targetUrlsSchema,
  oos_urls: z.optional(oosUrlsSchema),
  preference: z.optional(looseSchemas.preference),
  authentication: z.optional(looseSchemas.authentication),
  credit_limit: z.optional(crawlLimitSchema),
  additional_instructions: z.optional(instructionsSchema),
  scan_credit_limit: z.optional(scanLimitSchema),
  crawl_credit_limit: z.optional(crawlLimitSchema),
  resume: z.optional(z.union([looseSchemas.crawlResume, looseSchemas.assessmentResume])),
  pairs: z.optional(looseSchemas.pairs),
});
export type ApplicationInput = z.infer<typeof applicationInputSchema>;

export function sharedInput({
  target_urls,
  oos_urls,
  authentication,
  preference,
}: Pick<ApplicationInput, 'target_urls' | 'oos_urls' | 'authentication' | 'preference'>): ApplicationInput {
  return {
    target_urls,
    ...(oos_urls && { oos_urls }),
    ...(authentication && { authentication }),
    ...(preference && { preference }),
  };
}

/** Ignores order and repetition of URLs, letter case of hosts, and slashes at the end of paths. */
export function applicationSubject({ target_urls }: Pick<ApplicationInput, 'target_urls'>): string {
  const targets = target_urls.map((url) => {
    const { origin, pathname, search, hash } = new URL(url);
    return origin + pathname.replace(/(?<!\/)\/+$/, '') + search + hash;
  });
  return `blackbox ${JSON.stringify([...new Set(targets)].sort())}`;
}
