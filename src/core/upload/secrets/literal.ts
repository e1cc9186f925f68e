/**
 * A value is an expression if a template, a shell, Terraform, a pipeline, or a cloud's
 * configuration computes it or looks it up. An encrypted value counts as an expression, too.
 */

const computed = /\$[{([]|\{\{|[%#][{]|%\(|<%/;

/**
 * Matches whole values: a variable, a name in brackets, markers around a name, a call, an encrypted
 * envelope, or an address of a secret or another resource.
 */
const reference = new RegExp(
  [
    String.raw`\$.*|%\w+%|__\w+__|@@\w+@@|\[.*\]|\(\(.*\)\)`,
    String.raw`@?[A-Za-z][\w.-]*\([^]*\)`,
    // The first forms come from Spring, Maven, SOPS, dotenvx, and Vault. The last form is a sealed
    // secret, whose key has 4,096 bits.
    String.raw`\{[^{}]*\}.*|ENC\[.*|encrypted:.*|vault:v\d+:.*|Ag[A-D][\w+/]{200}.*`,
    '(?:arn|vault|ref|env|file|secrets?|ssm|kms|keychain|op|workspace|catalog|npm|link|mailto):.*',
  ]
    .map((form) => `^(?:${form})$`)
    .join('|'),
);

/** Matches a word of a name (`db`, `apiKey2`, `s3`, `base64encode`), or a number (`2031`). */
const word = String.raw`(?:[A-Z]?[a-z]+(?:[A-Z][a-z]+)*\d{0,4}|[A-Z]+\d{0,4}|[a-z]{1,6}\d{1,3}[a-z]{1,12}|\d{1,14})`;
const name = `_?${word}(?:[_-]${word})*`;
/**
 * Matches a reference (`module.db1.password`), or a path in a secret manager
 * (`projects/1/secrets/db-1`).
 */
const path = new RegExp(String.raw`^${name}(?:\.${name})+$|^${name}(?:/${name}){2,}(?:#${name})?$`);
const callee = new RegExp(String.raw`^${name}(?:\.${name})*$`);

/** Shells write `${NAME:-default}`, and Spring `${NAME:default}`. */
const withDefault = /^\$\{[\w.]{1,100}(?::[-=]?|[-=])([^${}?+=-][^${}]*)\}$/;

/**
 * Returns a value with its quotes removed, or the default of a reference. Undefined for an
 * expression. `next` is the character after an unquoted value: a bracket makes the value a call.
 */
export function literalOf(value: string, next: string): string | undefined {
  const isQuoted = /^["']/.test(value);
  // In YAML, these characters start tags, anchors, aliases, and comments, or are reserved.
  if (!isQuoted && (/^[!&*@#]/.test(value) || (/[([]/.test(next) && callee.test(value)))) return undefined;
  const text = value.replace(/^["'\\]+|["'\\]+$/g, '');
  return withDefault.exec(text)?.[1] ?? (isExpression(text) ? undefined : text);
}

export function isExpression(text: string): boolean {
  return computed.test(text) || reference.test(text) || path.test(text);
}

/**
 * True if the value begins with at least eight ASCII characters that include a letter and a digit,
 * and aren't a name of short words (`app-tls-2`, `app_tls_2`).
 */
export function looksRandom(value: string): boolean {
  const [ascii = ''] = /^[ -~]*/.exec(value) ?? [];
  if (ascii.length < 8 || !/[A-Za-z]/.test(ascii) || !/\d/.test(ascii)) return false;
  return !/^[a-z]{1,20}(?:[-._:/](?:[a-z]{1,20}|v?\d{1,6}))+$/i.test(ascii);
}
