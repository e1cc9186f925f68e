import { redact } from './credentials.ts';

const longest = 500;
/** No more of a text is read: of markup, most is no words. */
const longestRead = 64 * 1024;

/** What an error body says in words, read as findings-format.md "Errors of the service" lists it; redacted, one line, at most 500 characters; undefined when it says nothing. */
export function serviceMessage(body: string, secrets: readonly string[]): string | undefined {
  const said = inBrief(fromJson(body) ?? fromMarkup(body, secrets), secrets);
  return said === '' ? undefined : said;
}

/** Whatever the service said: as text, redacted, one line, at most 500 characters. */
export function inBrief(value: unknown, secrets: readonly string[] = []): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return redactStart(text, secrets).slice(0, longest);
}

/** Redacted before a cut, which would leave half of a secret that nothing finds. */
function redactStart(text: string, secrets: readonly string[]): string {
  return redact(text.replace(/\s+/g, ' ').trim().slice(0, longestRead), secrets);
}

function fromJson(body: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(body.replace(/^\uFEFF/, ''));
  } catch {
    return undefined; // not JSON: plain text or markup then
  }
  if (typeof value === 'string') return value;
  const root = record(value);
  const error = record(root['error']);
  const code = text(error['code']);
  const inError = text(error['message']);
  const first = Array.isArray(root['errors']) ? record(root['errors'][0])['message'] : undefined;
  return (
    text(root['message']) ??
    text(root['error']) ??
    (inError === undefined ? code : code === undefined ? inError : `${inError} (${code})`) ??
    text(root['detail']) ??
    text(root['title']) ??
    text(first) ??
    // No member we know: the whole says more than nothing.
    (Object.keys(root).length === 0 ? '' : body)
  );
}

/** Plain text as it is; of HTML and XML (object storage answers in XML) the words without the tags. */
function fromMarkup(body: string, secrets: readonly string[]): string {
  const title = text(/<(title|message)>([^<]*)</i.exec(body)?.[2]?.trim());
  return (
    title ??
    redactStart(body, secrets)
      .slice(0, 4 * longest)
      .replace(/<[^>]*>/g, ' ')
  );
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
