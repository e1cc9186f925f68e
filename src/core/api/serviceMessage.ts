import { visibleLine } from '../visibleText.ts';
import { redact } from './credentials.ts';

const longest = 500;
/** No more of a text is read: less than of the body of an error, so that a body that was cut off is cut here, too. */
const longestRead = 16 * 1024;

/** What an error body says in words, read as findings-format.md "Errors of the service" lists it; redacted, one line without hidden characters, at most 500 characters; undefined when it says nothing. */
export function serviceMessage(body: string, secrets: readonly string[]): string | undefined {
  const said = inBrief(fromJson(body) ?? fromMarkup(body, secrets), secrets);
  return said === '' ? undefined : said;
}

/** Whatever the service said: as text, redacted, one line without hidden characters, at most 500 characters. */
export function inBrief(value: unknown, secrets: readonly string[] = []): string {
  return startOf(typeof value === 'string' ? value : toJson(value), secrets).slice(0, longest);
}

/** Nested too deeply, JSON can be read and not be written. */
function toJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return '…';
  }
}

/** The start of a text, redacted, on one line. It is cut first, since a reply may be long; the end of the cut is left out, where half of a secret may stand that nothing finds. */
function startOf(text: string, secrets: readonly string[]): string {
  const start = redact(text.slice(0, longestRead), secrets);
  // Encoded, a character may take nine.
  const half = text.length > longestRead ? 9 * Math.max(0, ...secrets.map(({ length }) => length)) : 0;
  return visibleLine(start.slice(0, Math.max(0, start.length - half)));
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
    startOf(body, secrets)
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
