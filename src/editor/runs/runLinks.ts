import * as vscode from 'vscode';
import { AssessmentError } from '../../core/errors.ts';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import type { ShownFinding } from '../../core/findings/shownFinding.ts';
import type { Logger } from '../../core/ports.ts';
import { accountHash, isReferredTo, readLink, type RunReference } from '../../core/run/state/runLink.ts';
import type { Run } from '../../core/run/state/run.ts';
import type { Attempt } from '../errors/remedies.ts';
import { formatAccount } from '../formats.ts';
import { nameOf } from '../labels.ts';
import type { DocumentPanels } from '../report/documentPanels.ts';
import { readDestination } from '../settings.ts';
import { askInDialog, showInformation } from '../showMessage.ts';
import { focusView } from '../../lazyView.ts';
import { otherAccount, type RunDeps, trackRun } from './trackRun.ts';

/** What following links needs. */
export interface LinkDeps extends Targets {
  readonly attempt: Attempt;
  readonly log: Logger;
}

/** What a link can lead to. */
interface Targets extends RunDeps {
  readonly findings: FindingStore;
  readonly details: Pick<DocumentPanels<ShownFinding>, 'open'>;
}

/** Follows links to findings and runs, one at a time. Anybody can write one, so this shows what is here or asks, and does nothing else. */
export function createLinkFollower({ attempt, log, ...deps }: LinkDeps): (uri: vscode.Uri) => Promise<void> {
  let isFollowing = false;
  return async ({ path, query }) => {
    if (isFollowing) {
      log.warn('A link was not followed: the question of another one waits for an answer.');
      return;
    }
    isFollowing = true;
    try {
      await attempt('link', () => followLink(readLink(path, query), deps));
    } finally {
      isFollowing = false;
    }
  };
}

async function followLink(reference: RunReference | undefined, deps: Targets): Promise<void> {
  const t = vscode.l10n.t;
  if (reference === undefined) {
    void showInformation(t('This link names nothing that this version of the extension knows.'));
    return;
  }
  await deps.runs.reload();
  const known = deps.runs.all().filter((run) => isReferredTo(run, reference));
  if (known.length > 0) return openKnown(known, reference, deps);
  const destination = readDestination();
  if (destination === undefined) throw new AssessmentError('notSignedIn');
  if (reference.at !== undefined && reference.at !== accountHash(destination)) {
    void showInformation(otherAccount(destination));
    return;
  }
  if (!vscode.workspace.isTrusted) throw new AssessmentError('restricted');
  const track = t('Track Run');
  const choice = await askInDialog(
    {
      question: t('Track this run?'),
      detail: [
        t('A link names run {0}, which is not in the list.', reference.run),
        t(
          'The service is asked for it: {0}. Tracking starts nothing and spends no credits.',
          formatAccount(destination),
        ),
      ].join('\n\n'),
    },
    track,
  );
  if (choice === track) await trackRun(deps, reference);
}

async function openKnown(
  known: readonly Run[],
  { finding, index }: RunReference,
  { findings, details }: Targets,
): Promise<void> {
  const t = vscode.l10n.t;
  const [run] = known;
  if (run === undefined) return;
  if (finding === undefined) {
    await focusView('runs');
    void showInformation(t('The run of this link is in the list already: {0}.', nameOf(run)));
    return;
  }
  for (const each of known) {
    const same = (await findings.read(each)).shown.filter(({ identity }) => identity.fingerprint === finding);
    const meant = same.find((shown) => String(shown.finding.index) === index) ?? same[0];
    if (meant === undefined) continue;
    details.open(meant);
    return;
  }
  void showInformation(
    t('The run of this link is in the list ({0}), but this finding is not here.', nameOf(run)),
  );
}
