import { type Fields, firstHit } from '../../json.ts';
import { visibleLine } from '../../visibleText.ts';
import type { Finding } from '../finding.ts';
import * as aliases from './aliases.ts';

/** Longest feature name and address (docs/api.md, section 2.7). */
const maxLiveLength = 5_000;

/** Where a finding of a live application was found; empty for a finding about code. */
export function readLive(fields: Fields): Pick<Finding, 'method' | 'url' | 'feature' | 'perspective'> {
  const live = {
    method: firstHit(fields, aliases.METHOD, toMethod),
    url: firstHit(fields, aliases.URL_TEXT, toUrlText),
    feature: firstHit(fields, aliases.FEATURE, toLine),
    perspective: firstHit(fields, aliases.PERSPECTIVE, toPerspective),
  };
  // A single one may be anything: `url` a reference, `feature` a part of the code. A request is one.
  const isSure = fields.has('webrequest') && live.url !== undefined;
  return isSure || Object.values(live).filter((value) => value !== undefined).length > 1 ? live : {};
}

/** Only in upper case: `get` is more often the name of a function. */
function toMethod(value: unknown): string | undefined {
  return typeof value === 'string' && /^[A-Z]{3,10}$/.test(value) ? value : undefined;
}

/** A web address, or a path that starts with `/`. */
function toUrlText(value: unknown): string | undefined {
  return typeof value === 'string' && /^(?:https?:\/)?\/\S*$/i.test(value) ? toLine(value) : undefined;
}

function toPerspective(value: unknown): string | undefined {
  return typeof value === 'string' && /^\p{L}[\p{L}\p{N} _-]{0,63}$/u.test(value) ? value : undefined;
}

function toLine(value: unknown): string | undefined {
  const isText = typeof value === 'string' && value.trim() !== '' && value.length <= maxLiveLength;
  return isText ? visibleLine(value) : undefined;
}
