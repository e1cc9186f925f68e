import { BlockList, isIP } from 'node:net';
import { AssessmentError } from '../errors.ts';

/**
 * These prefixes make the IPv6 forms of an IPv4 address: compatible, mapped, translated, and NAT64
 * (global and local).
 */
const ipv4Prefixes = ['::', '::ffff:', '::ffff:0:', '64:ff9b::', '64:ff9b:1::'];
const thisMachine = networks('127.0.0.0/8', '0.0.0.0/8', '::/127');
/**
 * These are link-local addresses, and metadata services of Alibaba, Azure, Oracle, Amazon, and
 * Google.
 */
const thisNetwork = networks(
  '169.254.0.0/16',
  'fe80::/10',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
  'fd00:ec2::254/128',
  'fd20:ce::254/128',
);

/** Returns a URL that ends in a version, such as `https://host/v1`. */
export function toBaseUrl(text: string): string {
  const address = text.trim();
  // `localhost:9000` would be parsed as a scheme and a path.
  const detail = address === '' || /^https?:|:\/\//i.test(address) ? undefined : 'noScheme';
  const url = URL.parse(address);
  if (detail !== undefined || url === null || url.search !== '' || url.hash !== '')
    throw new AssessmentError('badSetting', { subject: 'baseUrl', detail });
  if (!isSafe(url)) throw unsafe(url);
  const path = url.pathname.replace(/\/+$/, '');
  return `${url.origin}${/\/v\d+$/.test(path) ? path : `${path}/v1`}`;
}

/**
 * Throws `insecureUrl` for a URL that isn't `isSafe`, or whose host a service must not reach
 * through VS Code: link-local and cloud metadata addresses, and this machine, unless the service
 * runs there.
 */
export function toPresignedUrl(text: string, serviceUrl: string): URL {
  const url = URL.parse(text);
  // The error must not contain the URL, because its query may be a secret.
  if (url === null) throw new AssessmentError('insecureUrl', { subject: 'files' });
  const isForeign = isThisMachine(url.hostname) && !isThisMachine(new URL(serviceUrl).hostname);
  if (!isSafe(url) || isForeign || isIn(thisNetwork, url.hostname)) throw unsafe(url, 'files');
  return url;
}

export function foreignHost(text: string, serviceUrl: string): string | undefined {
  const url = URL.parse(text);
  return url?.hostname === new URL(serviceUrl).hostname ? undefined : url?.host;
}

export function originOf(address: string): string {
  return new URL(address).origin;
}

function isSafe({ protocol, hostname, username, password }: URL): boolean {
  const isSecure = protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
  return isSecure && username === '' && password === '';
}

function unsafe({ protocol, host }: URL, subject?: 'files'): AssessmentError {
  return new AssessmentError('insecureUrl', { subject, detail: `${protocol}//${host}` });
}

function isLoopback(hostname: string): boolean {
  if (hostname === 'localhost' || hostname === '[::1]') return true;
  return isIP(hostname) === 4 && hostname.startsWith('127.');
}

function isThisMachine(hostname: string): boolean {
  return /(^|\.)localhost\.?$/.test(hostname) || isIn(thisMachine, hostname);
}

function networks(...ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    if (isIP(address) === 6) list.addSubnet(address, Number(bits), 'ipv6');
    else for (const prefix of ipv4Prefixes) list.addSubnet(`${prefix}${address}`, 96 + Number(bits), 'ipv6');
  }
  return list;
}

function isIn(list: BlockList, hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, '');
  const family = isIP(address);
  return family !== 0 && list.check(family === 4 ? `::ffff:${address}` : address, 'ipv6');
}
