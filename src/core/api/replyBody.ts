import type http from 'node:http';
import { parseIfJson } from '../json.ts';
import { visibleLine } from '../visibleText.ts';
import { redact } from './credentials.ts';

export const maxStartBytes = 64 * 1024;

export async function readStart(response: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= maxStartBytes) break;
    }
  } catch {
    // The status and the text so far are enough for an error.
  }
  return bodyText(Buffer.concat(chunks), response.headers);
}

const charset = /\bcharset\s*=\s*["']?([\w.:-]+)/i;
const metaCharset = /<meta\s[^>]{0,500}?\bcharset\s*=\s*["']?([\w.:-]+)/i;

/**
 * Ignores other values of `Content-Encoding`: storage replays them from an upload, such as
 * `aws-chunked` or a charset.
 */
const compression = /(?:^|[\s,])((?:x-)?(?:gzip|deflate|br|zstd|compress))(?=[\s,]|$)/i;

/**
 * Decodes a body by its charset, or else as UTF-8. A compressed body, which no request asks for, is
 * replaced by a line that names its encoding.
 */
export function bodyText(body: Buffer, headers: http.IncomingHttpHeaders): string {
  const encoding = compression.exec(headers['content-encoding'] ?? '')?.[1]?.toLowerCase();
  if (body.length > 0 && encoding !== undefined) return `${compressed}${encoding}`;
  if (body[0] === 0x1f && body[1] === 0x8b) return `${compressed}gzip`;
  const [, name = 'utf-8'] =
    charset.exec(headers['content-type'] ?? '') ?? metaCharset.exec(body.toString('latin1', 0, 2_048)) ?? [];
  try {
    return new TextDecoder(name, { ignoreBOM: true }).decode(body);
  } catch (error) {
    if (error instanceof RangeError) return body.toString('utf8'); // The charset is unknown.
    throw error;
  }
}

const compressed = 'Content-Encoding: ';

export function compressionOf(text: string): string | undefined {
  return /^Content-Encoding: (.+)$/.exec(text)?.[1];
}

const beforePage = /\s+|<!--[^]*?-->|<\?[^]*?\?>|<!doctype\s(?!\s*html\b)[^<>]*>/iy;
const pageStart = /<(?:!doctype\s+html|html|head|body|title|meta|script)(?=[\s/>])/iy;
const htmlType = /^\s*(?:text\/html|application\/xhtml\+xml)\s*(?:;|$)/i;
const nothingOrJson = /^\s*(?:$|[[{])/;
const markdownHeading = /^ {0,3}#{1,6} +\S/m;

/**
 * True if the body begins as an HTML document, or its type is HTML. The type alone doesn't count
 * for an empty body (Google's storage responds to an upload with one), JSON, or Markdown with a
 * heading. Storage may serve a report that begins with `<p align="center">` as HTML.
 */
export function isPage(body: string, contentType = ''): boolean {
  if (beginsAsPage(body)) return true;
  return htmlType.test(contentType) && !nothingOrJson.test(body) && !markdownHeading.test(body);
}

function beginsAsPage(body: string): boolean {
  let start = 0;
  // Takes one step at a time: a repeated group would try every way to split a series of comments.
  for (beforePage.lastIndex = 0; beforePage.test(body);) start = beforePage.lastIndex;
  pageStart.lastIndex = start;
  return pageStart.test(body);
}

const maxLength = 500;
/** A body cut off at `maxStartBytes` is longer, so half a secret at its end isn't read. */
const maxReadLength = 16 * 1024;

export function serviceMessage(body: string, secrets: readonly string[]): string | undefined {
  const message = excerptOf(fromJson(body) ?? fromMarkup(body, secrets), secrets);
  return message === '' ? undefined : message;
}

const idHeader = /(?:request|correlation)-?id$|^cf-ray$/;
const idInBody = /\brequest[_-]?id["']?\s?[:>=]\s?["']?([\w.:/+=-]{1,100})/i;

export function requestIdIn(headers: http.IncomingHttpHeaders, body: string, secrets: readonly string[]) {
  const named = Object.entries(headers).find(([name]) => idHeader.test(name));
  const id = named?.[1] ?? idInBody.exec(body)?.[1];
  return id === undefined ? undefined : excerptOf(id, secrets);
}

/** Returns at most 500 characters, redacted, on one visible line. */
export function excerptOf(value: unknown, secrets: readonly string[] = []): string {
  return startOf(typeof value === 'string' ? value : toJson(value), secrets).slice(0, maxLength);
}

/** Returns an excerpt if the value is too long or too deep, or isn't JSON after redaction. */
export function redactedJson(value: unknown, secrets: readonly string[]): unknown {
  const json = toJson(value);
  if (json.length > maxReadLength) return excerptOf(value, secrets);
  const redacted = parseIfJson(redact(json, secrets));
  return redacted === undefined ? excerptOf(value, secrets) : redacted;
}

function toJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return '…';
  }
}

/** Returns a text's redacted start on one line. Drops its end if half a secret may be there. */
function startOf(text: string, secrets: readonly string[]): string {
  const start = redact(text.slice(0, maxReadLength), secrets);
  // An encoded character takes up to nine characters.
  const maxHalf = text.length > maxReadLength ? 9 * Math.max(0, ...secrets.map(({ length }) => length)) : 0;
  return visibleLine(start.slice(0, Math.max(0, start.length - maxHalf)));
}

function fromJson(body: string): string | undefined {
  const value = parseIfJson(body);
  return value === undefined ? undefined : messageIn(value);
}

export function messageIn(value: unknown): string {
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
    membersOf(value)
  );
}

const maxDepth = 4;

function membersOf(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return value === null ? '' : JSON.stringify(value);
  if (depth === maxDepth) return '…';
  if (Array.isArray(value)) return value.map((each) => membersOf(each, depth + 1)).join(', ');
  const members = Object.entries(value).map(([key, each]) => `${key}: ${membersOf(each, depth + 1)}`);
  return depth === 0 ? members.join(', ') : `(${members.join(', ')})`;
}

const reasons = ['Message', 'Details', 'AuthenticationErrorDetail'];
const references = ['HeaderName', 'HeadersNotSigned', 'QueryParameterName'];

/** Returns the title of HTML, or else the reasons in object storage's XML, or else all text. */
function fromMarkup(body: string, secrets: readonly string[]): string {
  const title = element('title', body);
  if (title !== undefined) return title;
  const said = reasons.flatMap((name) => element(name, body) ?? []).join(' ');
  const about = references.flatMap((name) => element(name, body) ?? []).join(', ');
  if (said !== '') return about === '' ? said : `${said} (${about})`;
  return decodeEntities(
    startOf(body, secrets)
      .slice(0, 4 * maxLength)
      .replace(/<[^>]*>/g, ' '),
  );
}

function element(name: string, markup: string): string | undefined {
  const found = new RegExp(`<${name}(?:\\s[^<>]*)?>([^<]*)<`, 'i').exec(markup)?.[1];
  return text(decodeEntities(found ?? '').trim());
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
};

function decodeEntities(markup: string): string {
  const decode = (entity: string, decimal?: string, hex?: string, name?: string): string => {
    if (name !== undefined) return entities[name.toLowerCase()] ?? entity;
    const code = decimal === undefined ? parseInt(hex ?? '', 16) : Number(decimal);
    return code > 0x10ffff ? entity : String.fromCodePoint(code).toWellFormed();
  };
  return markup.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]+));/gi, decode);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
