import { REFUSALS } from './invented.ts';

/**
 * A reply is an object before it is written, so that a fault rule can still change what the wire
 * carries.
 */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export class Refusal extends Error {
  readonly code: keyof typeof REFUSALS;

  constructor(code: keyof typeof REFUSALS, message: string) {
    super(message);
    this.name = 'Refusal';
    this.code = code;
  }
}

export function jsonReply(status: number, value: unknown): Reply {
  return {
    status,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(value)),
  };
}

export function refusalReply(refusal: Refusal): Reply {
  return jsonReply(REFUSALS[refusal.code], { error: { code: refusal.code, message: refusal.message } });
}

/** On a presigned address, a refusal is XML, as object storage answers. */
export function storageRefusal(status: number, code: string, message: string): Reply {
  const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${escape(message)}</Message></Error>`;
  return { status, headers: { 'content-type': 'application/xml' }, body: Buffer.from(body) };
}
