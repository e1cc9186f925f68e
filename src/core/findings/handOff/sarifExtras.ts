import { type Decision, readDecisions } from '../triage/decisions.ts';
import { createLook, isObject, type Look, normalKey } from '../parse/readValue.ts';
import { createShapes } from '../parse/shapes.ts';
import { visibleLine } from '../parse/visibleText.ts';

/** What a SARIF log that this extension wrote says beside its findings. */
export interface SarifExtras {
  /** See `ImportedFile`. */
  readonly folders: readonly string[];
  readonly decisions: readonly Decision[];
}

const none: SarifExtras = { folders: [], decisions: [] };

/** The folders and decisions in a log of ours; none in any other JSON. */
export function readSarifExtras(text: string): SarifExtras {
  // Most files are none of ours: a second reading of 64 MB is spared them.
  if (!text.includes('"whiteboxFinding/v1"')) return none;
  let log: unknown;
  try {
    log = JSON.parse(text);
  } catch {
    return none; // told by the reader of its findings
  }
  const look = createLook(createShapes(normalKey));
  const runs = listAt(look, log, 'runs');
  // Counted as the reader of the findings counts them.
  const entries = runs
    .flatMap((run) => listAt(look, run, 'results'))
    .filter((result) => look(result, [normalKey('baseline_state')]) !== 'absent')
    .flatMap((result, index) => {
      const triage = look(result, ['properties', 'whitebox', 'triage']);
      return isObject(triage) ? [{ ...triage, index }] : [];
    });
  return {
    folders: runs.slice(0, 1).flatMap((run) => foldersOf(look, run)),
    decisions: readDecisions(entries),
  };
}

/** They stand in the order of the folders. */
function foldersOf(look: Look, run: unknown): readonly string[] {
  const bases = look(run, [normalKey('originalUriBaseIds')]);
  const names = Object.values(isObject(bases) ? bases : {}).map((base) =>
    look(base, ['description', 'text']),
  );
  return names.every((name) => typeof name === 'string') ? names.map(visibleLine) : [];
}

function listAt(look: Look, value: unknown, key: string): readonly unknown[] {
  const list = look(value, [key]);
  return Array.isArray(list) ? list : [];
}
