/**
 * What an assigned value is, by its form alone. What a template, a shell, Terraform, a pipeline, or
 * a cloud’s configuration computes or looks up is an expression, and no literal. What is encrypted
 * in order to be committed is none, either.
 */

/**
 * Parts that occur in expressions only: `${…}`, `$(…)`, `$[…]`, `{{…}}`, `%{…}`, `%(…)`, `#{…}`,
 * `<%…`.
 */
const computed = /\$[{([]|\{\{|[%#][{]|%\(|<%/;

/**
 * Whole values: a variable, a name in brackets, markers around a name, a call, an encrypted
 * envelope.
 */
const reference = new RegExp(
  [
    String.raw`\$.*|%\w+%|__\w+__|@@\w+@@|\[.*\]|\(\(.*\)\)`,
    String.raw`@?[A-Za-z][\w.-]*\([^]*\)`,
    // Of Spring, Maven, Jasypt, SOPS, dotenvx, and Vault; of sealed secrets, whose key has 4,096
    // bits.
    String.raw`\{[^{}]*\}.*|ENC\[.*|encrypted:.*|vault:v\d+:.*|Ag[A-D][\w+/]{200}.*`,
    '(?:arn|vault|ref|env|file|secrets?|ssm|kms|keychain|op|workspace|catalog|npm|link|mailto):.*',
  ]
    .map((form) => `^(?:${form})$`)
    .join('|'),
);

/** A word of a name, with a few digits: `db`, `apiKey2`, `s3`, `base64encode`, `2031`. */
const word = String.raw`(?:[A-Z]?[a-z]+(?:[A-Z][a-z]+)*\d{0,4}|[A-Z]+\d{0,4}|[a-z]{1,6}\d{1,3}[a-z]{1,12}|\d{1,14})`;
const name = `_?${word}(?:[_-]${word})*`;
/**
 * A reference (`module.db1.password`), or the path of a secret manager (`projects/1/secrets/db-1`).
 */
const path = new RegExp(String.raw`^${name}(?:\.${name})+$|^${name}(?:/${name}){2,}(?:#${name})?$`);
const callee = new RegExp(String.raw`^${name}(?:\.${name})*$`);

/** `${NAME:-default}` of a shell, `${NAME:default}` of Spring. */
const withDefault = /^\$\{[\w.]{1,100}(?::[-=]?|[-=])([^${}?+=-][^${}]*)\}$/;

/**
 * The text that a value has in the file itself, without quotes: for a reference with a default,
 * that default. Undefined for an expression. `next` is the character behind an unquoted value: a
 * bracket makes it a call.
 */
export function literalOf(value: string, next: string): string | undefined {
  const isQuoted = /^["']/.test(value);
  // Tags, anchors, aliases, and comments, as in YAML.
  if (!isQuoted && (/^[!&*@#]/.test(value) || (/[([]/.test(next) && callee.test(value)))) return undefined;
  const text = value.replace(/^["'\\]+|["'\\]+$/g, '');
  return withDefault.exec(text)?.[1] ?? (isExpression(text) ? undefined : text);
}

export function isExpression(text: string): boolean {
  return computed.test(text) || reference.test(text) || path.test(text);
}

/**
 * Begins with ASCII that has letters and digits and is no name made of short words (`app-tls-2`,
 * `app_tls_2`).
 */
export function looksRandom(value: string): boolean {
  const [ascii = ''] = /^[ -~]*/.exec(value) ?? [];
  if (ascii.length < 8 || !/[A-Za-z]/.test(ascii) || !/\d/.test(ascii)) return false;
  return !/^[a-z]{1,20}(?:[-._:/](?:[a-z]{1,20}|v?\d{1,6}))+$/i.test(ascii);
}
