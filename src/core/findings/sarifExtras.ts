import { type Decision, readDecisions } from './decisions.ts';
import { createLook, isObject, type Look, normalKey } from './readValue.ts';
import { createShapes } from './shapes.ts';

/** What a SARIF log that this extension wrote says beside its findings. */
export interface SarifExtras {
  readonly decisions: readonly Decision[];
}

/** The decisions in a log of ours; none in any other JSON. */
export function readSarifExtras(text: string): SarifExtras {
  // Most files are none of ours: a second reading of 64 MiB is spared them.
  if (!text.includes('"whiteboxFinding/v1"')) return { decisions: [] };
  let log: unknown;
  try {
    log = JSON.parse(text);
  } catch {
    return { decisions: [] }; // told by the reader of its findings
  }
  const look = createLook(createShapes(normalKey));
  const entries = listAt(look, log, 'runs')
    .flatMap((run) => listAt(look, run, 'results'))
    .map((result) => look(result, ['properties', 'whitebox']))
    .flatMap((own) => {
      const triage = look(own, ['triage']);
      return isObject(triage) ? [{ ...triage, fingerprint: look(own, ['fingerprint']) }] : [];
    });
  return { decisions: readDecisions(entries) };
}

function listAt(look: Look, value: unknown, key: string): readonly unknown[] {
  const list = look(value, [key]);
  return Array.isArray(list) ? list : [];
}
