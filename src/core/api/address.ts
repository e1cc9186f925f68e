import { BlockList, isIP } from 'node:net';
import { AssessmentError } from '../errors.ts';

const thisMachine = new BlockList();
thisMachine.addSubnet('127.0.0.0', 8);
thisMachine.addSubnet('0.0.0.0', 8);
thisMachine.addSubnet('::', 127, 'ipv6');
const linkLocal = new BlockList();
linkLocal.addSubnet('169.254.0.0', 16);
linkLocal.addSubnet('fe80::', 10, 'ipv6');

/** Reads a base URL, with or without `/v1` or a slash, into the form `https://host/v1`. Throws `badSetting` or `insecureUrl`. */
export function toBaseUrl(text: string): string {
  const url = parse(text.trim(), 'badSetting');
  if (url.search !== '' || url.hash !== '') throw new AssessmentError('badSetting', { subject: 'baseUrl' });
  requireSafe(url);
  const path = url.pathname.replace(/\/+$/, '');
  return `${url.origin}${/\/v\d+$/.test(path) ? path : `${path}/v1`}`;
}

/**
 * Reads a presigned address from a service. Throws `insecureUrl` (subject: `files`) unless it is https, or http on loopback, without user
 * information. Loopback is accepted only from a service on loopback, link-local from none: something on this machine or network may answer there.
 */
export function toPresignedUrl(text: string, serviceUrl: string): URL {
  const url = parse(text, 'insecureUrl');
  requireSafe(url, 'files');
  const isForeign = isThisMachine(url.hostname) && !isThisMachine(new URL(serviceUrl).hostname);
  if (isForeign || isIn(linkLocal, url.hostname))
    throw new AssessmentError('insecureUrl', { subject: 'files', detail: `${url.protocol}//${url.host}` });
  return url;
}

/** The host of a presigned address; undefined where it is the service's. */
export function foreignHost(text: string, serviceUrl: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { host, hostname } = new URL(text);
  return hostname === new URL(serviceUrl).hostname ? undefined : host;
}

export function originOf(address: string): string {
  return new URL(address).origin;
}

function parse(text: string, kind: 'badSetting' | 'insecureUrl'): URL {
  try {
    return new URL(text);
  } catch (cause) {
    // The text may be a presigned address: the error must not hold it.
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

function isThisMachine(hostname: string): boolean {
  return /(^|\.)localhost\.?$/.test(hostname) || isIn(thisMachine, hostname);
}

/** Also for an IPv4 address written as IPv6. */
function isIn(networks: BlockList, hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, '');
  const family = isIP(address);
  return family !== 0 && networks.check(address, family === 4 ? 'ipv4' : 'ipv6');
}
