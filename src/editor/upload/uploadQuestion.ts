import * as vscode from 'vscode';
import { isSamePath } from '../../core/paths.ts';
import { hasAllFindings, runsBefore } from '../../core/findings/chooseRun.ts';
import { readUploadedFiles, type UploadedFiles } from '../../core/findings/location/uploadedFiles.ts';
import { readHead } from '../../core/findings/result/resultFile.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import type { ManifestEntry } from '../../core/upload/archive/packing.ts';
import type { PackedRun } from '../../core/run/start/packRun.ts';
import { coverageOf, isUnread } from '../../core/upload/choose/coverage.ts';
import { elapsedMs, type Run, runIdOf } from '../../core/run/state/run.ts';
import { withIncluded } from '../../core/upload/choose/choices.ts';
import type { UploadSelection } from '../../core/upload/choose/prepareUpload.ts';
import type { Suspicion } from '../../core/upload/secrets/scanFile.ts';
import { visibleName } from '../../core/visibleText.ts';
import { inSlices } from '../../core/yieldingWork.ts';
import {
  countFiles,
  countShown,
  describeCoverage,
  firstLines,
  formatAccount,
  formatBytes,
  formatDay,
  formatDuration,
  formatList,
  formatNumber,
  formatTime,
} from '../formats.ts';
import { askInDialog } from '../showMessage.ts';
import { describeSuspicions, type Prepared, type UploadChoices } from './checkAndPack.ts';
import type { UploadPreview } from './uploadPreview.ts';

const t = vscode.l10n.t;

type Manifests = PackedRun['manifests'];

interface QuestionDeps {
  readonly runs: RunStore;
  readonly preview: Pick<UploadPreview, 'show' | 'close'>;
  readonly choices: Pick<UploadChoices, 'change'>;
}

/** `prepareAgain` means that the user included files, which have to be checked and packed first. */
export async function confirmUpload(
  packed: PackedRun,
  prepared: readonly Prepared[],
  { preview, choices, runs }: QuestionDeps,
  retried?: Run,
): Promise<'start' | 'prepareAgain' | undefined> {
  const { targets } = packed.run;
  const tracked = prepared.flatMap(({ selection }) => trackedIn(selection));
  const detail = await describeUpload(packed, prepared, runs, retried);
  const start = t('Upload and Start');
  const question = t(
    'Upload {0} of {1} for assessment?',
    countFiles(coverageOf(packed.run)?.uploaded ?? 0),
    formatList(targets.map(({ name }) => visibleName(name))),
  );
  const [show, include] = [t('Show Files'), t('Include…')];
  for (;;) {
    const answers = [start, show, tracked.length > 0 && include];
    const choice = await askInDialog({ question, detail, icon: 'info' }, ...answers);
    if (choice === start) {
      // The preview closes, because it says that nothing has been sent.
      preview.close();
      return 'start';
    }
    if (choice === show) preview.show(prepared);
    if (choice !== include) return undefined;
    if (!(await askAboutTracked(tracked))) continue;
    for (const { folder, selection } of prepared)
      await choices.change(folder, (current) => withIncluded(current, trackedIn(selection)));
    return 'prepareAgain';
  }
}

async function describeUpload(
  { run, manifests }: PackedRun,
  prepared: readonly Prepared[],
  runs: RunStore,
  retried?: Run,
): Promise<readonly (string | false | undefined)[]> {
  const archives = run.targets.flatMap(({ archive }) => (archive === undefined ? [] : [archive]));
  const sourceBytes = archives.reduce((sum, archive) => sum + archive.sourceBytes, 0);
  const bytes = archives.reduce((sum, archive) => sum + archive.bytes, 0);
  const repeated = runWithSameArchives(run, runs);
  const added = retried === undefined ? [] : await addedSince(retried, run, manifests, runs);
  const unreadable = prepared.flatMap(({ selection }) => unreadableIn(selection));
  const tracked = prepared.flatMap(({ selection }) => trackedIn(selection));
  const omitted = archives.flatMap(({ omitted: paths = [] }) => paths);
  return [
    t('Destination: {0}', formatAccount(run)),
    t('Size: {0}, compressed {1}', formatBytes(sourceBytes), formatBytes(bytes)),
    ...run.targets.flatMap(({ name, coverage }) =>
      coverage === undefined ? [] : [`${visibleName(name)}: ${describeCoverage(coverage)}`],
    ),
    tracked.length > 0 &&
      t(
        'Tracked by Git, but ignored: {0}. Excluded unless you choose “{1}”.',
        countFiles(tracked.length),
        t('Include…'),
      ),
    // An archive's `omitted` has only the first paths, so the total comes from the coverage.
    ...describeNotPackaged([...unreadable, ...omitted], coverageOf(run)?.notPackaged),
    added.length > 0 &&
      `${t('New since the run that you’re retrying: {0}', countFiles(added.length))}\n${firstLines(added.slice(0, 10).map(visibleName), added.length)}`,
    t('Report language: {0}', run.language === 'japanese' ? t('Japanese') : t('English')),
    t(
      'The run spends your organization’s credits. The service doesn’t say in advance how many. The run takes hours to days and continues while VS Code is closed.',
    ),
    ...describeUploadedSecrets(prepared.flatMap(({ undecided }) => undecided)),
    ...(await describeLastRun(run, manifests, runs)),
    repeated && t('These are exactly the files that were uploaded on {0}.', formatTime(repeated.createdAt)),
  ];
}

function trackedIn({ excluded }: UploadSelection): string[] {
  return excluded.flatMap(({ path, reason }) => (reason.kind === 'ignoredButTracked' ? [path] : []));
}

async function askAboutTracked(paths: readonly string[]): Promise<boolean> {
  const all = t('Include All');
  const choice = await askInDialog(
    {
      question: t('Include {0} tracked by Git, but ignored?', countFiles(paths.length)),
      detail: [
        firstLines(paths.slice(0, 10).map(visibleName), paths.length),
        t('Included files are also part of later uploads, until you exclude them in the Upload Preview.'),
        t(
          'Nothing has been sent. If you choose “{0}”, VS Code checks these files for secrets and shows the confirmation again.',
          all,
        ),
      ],
      dismiss: t('Back'),
    },
    all,
  );
  return choice === all;
}

/**
 * Returns files that the earlier run didn't upload. The user may have excluded them in another
 * window, whose choices don't apply here.
 */
async function addedSince(
  earlier: Run,
  run: Run,
  manifests: Manifests,
  runs: RunStore,
): Promise<readonly string[]> {
  const earlierFiles = await filesBefore(earlier, run, runs);
  return inSlices(pathsOf(manifests, ({ path }, at) => earlierFiles[at]?.has(path) === false));
}

function filesBefore(earlier: Run, { targets }: Run, runs: RunStore): Promise<UploadedFiles> {
  const filesOf = ({ folder }: Run['targets'][number]): ReturnType<typeof readUploadedFiles> => {
    const target = earlier.targets.findIndex((each) => isSamePath(each.folder, folder));
    return readUploadedFiles({ target, folder }, runs.folderOf(earlier.id));
  };
  return Promise.all(targets.map(filesOf));
}

function* pathsOf(
  manifests: Manifests,
  isWanted: (entry: ManifestEntry, target: number) => boolean,
): Generator<undefined, readonly string[]> {
  const paths: string[] = [];
  for (const [at, entries] of manifests.entries())
    for (const entry of entries) {
      if (isWanted(entry, at)) paths.push(entry.path);
      yield;
    }
  return paths;
}

async function describeLastRun(run: Run, manifests: Manifests, runs: RunStore): Promise<string[]> {
  for (const last of runsBefore(runs.all(), run).filter(hasAllFindings)) {
    const head = await readHead(runs.folderOf(last.id));
    const lastFiles = head === undefined ? [undefined] : await filesBefore(last, run, runs);
    if (head === undefined || lastFiles.includes(undefined)) continue;
    let total = 0;
    const isDifferent = ({ path, sha256 }: ManifestEntry, at: number): boolean => {
      total += 1;
      return lastFiles[at]?.get(path)?.sha256 !== sha256;
    };
    const differing = await inSlices(pathsOf(manifests, isDifferent));
    return [
      t(
        'The run from {0} took {1} and reported {2}. Since then, {3} of {4} are new or changed.',
        formatDay(last.createdAt),
        formatDuration(elapsedMs(last, last.createdAt)),
        countShown(head.counts.findings, head.cut),
        formatNumber(differing.length),
        countFiles(total),
      ),
    ];
  }
  return [];
}

function runWithSameArchives(run: Run, runs: RunStore): Run | undefined {
  const hashesOf = ({ targets }: Run): string => targets.map(({ archive }) => archive?.sha256 ?? '').join();
  return runs
    .all()
    .find(
      (other) => other.id !== run.id && runIdOf(other) !== undefined && hashesOf(other) === hashesOf(run),
    );
}

export function describeUploadedSecrets(suspicions: readonly Suspicion[]): string[] {
  if (suspicions.length === 0) return [];
  const label = t('Suspected secrets that would be uploaded:');
  return [`${label}\n${describeSuspicions(suspicions)}`];
}

export function unreadableIn({ excluded }: UploadSelection): string[] {
  return excluded.flatMap(({ path, reason }) => (isUnread(reason) ? [path] : []));
}

export function describeNotPackaged(paths: readonly string[], total = paths.length): string[] {
  if (total === 0) return [];
  return [`${t('Couldn’t be packaged and are excluded:')}\n${firstLines(paths.map(visibleName), total)}`];
}
