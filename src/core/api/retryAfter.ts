const longestMs = 24 * 60 * 60 * 1000;

/** Milliseconds a `Retry-After` header asks for: seconds or an HTTP date, as seen at `now`; 0 when past or absent or neither, at most a day. */
export function parseRetryAfter(header: string | undefined, now: number): number {
  const text = header?.trim() ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : (parseHttpDate(text) ?? now) - now;
  return Math.min(Math.max(ms, 0), longestMs);
}

/** The three forms of RFC 9110, section 5.6.7; `Date.parse` alone finds a date in almost any text with a number in it. */
export function parseHttpDate(text: string): number | undefined {
  const asctime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/.test(text);
  const named = /^[A-Z][a-z]{2,8}, .*\d{2}:\d{2}:\d{2} GMT$/.test(text);
  const at = asctime ? Date.parse(`${text} GMT`) : named ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? undefined : at;
}
