const longestMs = 24 * 60 * 60 * 1000;

/** Milliseconds a `Retry-After` header asks for: seconds or an HTTP date; 0 when past or absent or unreadable, at most a day. */
export function parseRetryAfter(header: string | undefined, now: number): number {
  if (header === undefined) return 0;
  const text = header.trim();
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), longestMs) : /^\d+$/.test(text) ? longestMs : 0;
}
