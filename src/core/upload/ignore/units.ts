/**
 * git compares bytes, strings here are of UTF-16 units. Each byte becomes one unit: ASCII as itself, the others in the private use area,
 * where case folding does not reach them (git folds ASCII only).
 */
export function toUnits(text: string | Uint8Array): string {
  if (typeof text === 'string') {
    if (!/[^\0-\x7f]/.test(text)) return text;
    return toUnits(Buffer.from(text));
  }
  const latin = Buffer.from(text.buffer, text.byteOffset, text.byteLength).toString('latin1');
  return latin.replace(/[\u0080-\u00ff]/g, (unit) => String.fromCharCode(0xf700 + unit.charCodeAt(0)));
}
