import { isIP } from 'node:net';
import { AssessmentError } from '../errors.ts';

/** Reads a base URL as people paste it (with or without `/v1`, with or without a slash) into the form `https://host/v1`; throws `badSetting` or `insecureUrl`. */
export function toBaseUrl(text: string): string {
  const url = parse(text.trim(), 'badSetting');
  if (url.search !== '' || url.hash !== '') throw new AssessmentError('badSetting', { subject: 'baseUrl' });
  requireSafe(url);
  const path = url.pathname.replace(/\/+$/, '');
  return `${url.origin}${/\/v\d+$/.test(path) ? path : `${path}/v1`}`;
}

/** Reads a presigned address that the service returned; throws `insecureUrl`, with `files` as its `subject`, unless it is https (or http on loopback) without user information. */
export function toPresignedUrl(text: string): URL {
  const url = parse(text, 'insecureUrl');
  requireSafe(url, 'files');
  return url;
}

/** The origin of an address, for a place where only that may be shown. */
export function originOf(address: string): string {
  return new URL(address).origin;
}

function parse(text: string, kind: 'badSetting' | 'insecureUrl'): URL {
  try {
    return new URL(text);
  } catch (cause) {
    // The text may be a presigned address: it stays out of the error.
    if (kind === 'insecureUrl') throw new AssessmentError(kind, { subject: 'files' });
    throw new AssessmentError(kind, { subject: 'baseUrl' }, { cause });
  }
}

function requireSafe(url: URL, subject?: 'files'): void {
  const secure = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
  if (!secure || url.username !== '' || url.password !== '') {
    throw new AssessmentError('insecureUrl', { subject, detail: `${url.protocol}//${url.host}` });
  }
}

function isLoopback(hostname: string): boolean {
  if (hostname === 'localhost' || hostname === '[::1]') return true;
  return isIP(hostname) === 4 && hostname.startsWith('127.');
}
