import { setImmediate } from 'node:timers/promises';
import { createTwoFilesPatch } from 'diff';
import * as vscode from 'vscode';
import { attackPathOf } from '../../core/findings/finding.ts';
import type { DetailedFinding } from '../../core/findings/shownFinding.ts';
import { codeBlock, codeSpan, clip, visibleName } from '../../core/visibleText.ts';
import { addressOf } from '../../core/findings/view/findingMarkdown.ts';
import { maskSecrets } from '../../core/upload/secrets/checkSecrets.ts';
import { type ChangedFile, changedFilesOf, whyNotUploaded } from '../findings/code/asAssessed.ts';
import type { TextSources } from '../findings/code/fileTexts.ts';
import { findingsMarkdown, handToAgent } from '../findings/shareFindings.ts';
import { compact, formatNumber } from '../formats.ts';
import { roleLabel } from '../findingLabels.ts';
import { withProgress } from '../progress.ts';

const t = vscode.l10n.t;

const maxSentChars = 20_000;
/** More text is masked than sent, because masks are shorter than secrets. */
const maxMaskedChars = 10 * maxSentChars;
const maxComparisonMs = 100;

export async function checkWhetherFixed(
  shown: DetailedFinding,
  deps: TextSources & { readonly secretWorkerFile: string },
): Promise<void> {
  const data = await withProgress(t('Comparing with the assessed code…'), async (_onStep, signal) => {
    const changes = await describeChanges(shown, deps, signal);
    return describe(await maskSecrets({ shown, changes }, deps.secretWorkerFile, signal));
  });
  const question = compact(
    t(
      'Is the cause of the finding below gone? Follow its attack path in the code as it is now. Answer “gone”, “still present”, or “unknown”, and name the lines that show this. Change nothing. I decide about the finding.',
    ),
    data.length > maxSentChars &&
      t(
        'Only the first {0} characters are included. Read the rest in the files.',
        formatNumber(maxSentChars),
      ),
  );
  await handToAgent(question.join('\n\n'), clip(data, maxSentChars));
}

async function describeChanges(
  shown: DetailedFinding,
  deps: TextSources,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const changes: string[] = [];
  let chars = 0;
  for (const file of await changedFilesOf(shown, deps)) {
    signal.throwIfAborted();
    await setImmediate();
    if (chars > maxMaskedChars) break;
    const change = clip(describeChange(file), maxMaskedChars);
    chars += change.length;
    changes.push(change);
  }
  return changes.length > 0
    ? changes
    : [t('There is nothing to compare: {0}.', (await whyNotUploaded(shown.run, deps)).why)];
}

function describe({ shown, changes }: { shown: DetailedFinding; changes: readonly string[] }): string {
  const steps = attackPathOf(shown.finding).map((location, at) => {
    const role = location.role === undefined ? '' : `${roleLabel(location.role)} `;
    return `${String(at + 1)}. ${role}${codeSpan(addressOf(location, shown))}`;
  });
  return [
    findingsMarkdown([shown]),
    ...(steps.length === 0 ? [] : [`### ${t('Attack path')}`, ...steps, '']),
    `### ${t('Changes since the assessment')}`,
    ...changes,
  ].join('\n');
}

function describeChange({ path, before, after }: ChangedFile): string {
  const name = visibleName(path);
  if ('why' in before) return t('Not compared: {0}', `${name}: ${before.why}`);
  if (after === undefined)
    return t('{0} can’t be read. It is gone, too large, or no longer a file inside the folder.', name);
  if (before.text === after) return t('{0} hasn’t changed.', name);
  const limits = { context: 3, timeout: maxComparisonMs };
  const patch = createTwoFilesPatch(name, name, before.text, after, undefined, undefined, limits);
  return patch === undefined
    ? t('{0} has changed too much to compare.', name)
    : codeBlock(patch.split('\n'), 'diff');
}
