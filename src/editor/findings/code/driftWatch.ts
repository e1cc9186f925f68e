import * as vscode from 'vscode';
import type { FindingStore } from '../../../core/findings/findingStore.ts';
import type { Clock, Logger } from '../../../core/ports.ts';
import { inBackground } from '../../../core/yieldingWork.ts';

const gatherMs = 100;
/** While a user types, VS Code moves the squiggles itself, so locating waits for a pause. */
const restMs = 300;

interface Deps {
  readonly findings: Pick<FindingStore, 'shownRuns' | 'onDidChange' | 'locateAgain'>;
  readonly branch: { reread(changed: ReadonlySet<string>): void };
  readonly clock: Clock;
  readonly log: Logger;
}

export function watchDrift(deps: Deps): vscode.Disposable {
  const { findings } = deps;
  let watches: vscode.Disposable | undefined;
  const follow = (): void => {
    if (findings.shownRuns().length > 0) {
      if (watches !== undefined) return;
      watches = vscode.Disposable.from(watchDisk(deps), watchDocuments(deps));
      inBackground(findings.locateAgain(openFiles()), deps.log);
    } else {
      watches?.dispose();
      watches = undefined;
    }
  };
  follow();
  return vscode.Disposable.from(findings.onDidChange(follow), {
    dispose: () => {
      watches?.dispose();
    },
  });
}

function openFiles(): ReadonlySet<string> {
  const files = vscode.workspace.textDocuments.filter(({ uri }) => uri.scheme === 'file');
  return new Set(files.map(({ uri }) => uri.fsPath));
}

function watchDocuments({ findings, branch, clock, log }: Deps): vscode.Disposable {
  const edited = new Set<string>();
  let editedAt = 0;
  let isWaiting = false;
  let isDisposed = false;
  const locateAfterRest = async (): Promise<void> => {
    try {
      // Files that are edited while others are located wait for the next turn.
      while (edited.size > 0) {
        for (let leftMs = restMs; leftMs > 0; leftMs = editedAt + restMs - clock.monotonic())
          await clock.sleep(leftMs);
        if (isDisposed) return;
        const files = new Set(edited);
        edited.clear();
        branch.reread(files);
        await findings.locateAgain(files);
      }
    } finally {
      isWaiting = false;
    }
  };
  const gather = ({ uri }: vscode.TextDocument): void => {
    if (uri.scheme !== 'file') return;
    edited.add(uri.fsPath);
    editedAt = clock.monotonic();
    if (!isWaiting) inBackground(locateAfterRest(), log);
    isWaiting = true;
  };
  return vscode.Disposable.from(
    // An event without changes counts, too: the document may have been saved.
    vscode.workspace.onDidChangeTextDocument(({ document }) => gather(document)),
    vscode.workspace.onDidCloseTextDocument(gather),
    // Documents with unsaved changes come back after a restart.
    vscode.workspace.onDidOpenTextDocument((document) => {
      if (document.isDirty) gather(document);
    }),
    { dispose: () => (isDisposed = true) },
  );
}

function watchDisk({ findings, branch, log }: Deps): vscode.Disposable {
  const changed = new Set<string>();
  const createdOrDeleted = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const report = (): void => {
    timer = undefined;
    inBackground(findings.locateAgain(new Set(changed), new Set(createdOrDeleted)), log);
    branch.reread(new Set([...changed, ...createdOrDeleted]));
    changed.clear();
    createdOrDeleted.clear();
  };
  const gatherIn =
    (paths: Set<string>) =>
    ({ fsPath }: vscode.Uri): void => {
      paths.add(fsPath);
      timer ??= setTimeout(report, gatherMs);
    };
  const watcher = vscode.workspace.createFileSystemWatcher('**/*');
  return vscode.Disposable.from(
    watcher,
    watcher.onDidChange(gatherIn(changed)),
    watcher.onDidCreate(gatherIn(createdOrDeleted)),
    watcher.onDidDelete(gatherIn(createdOrDeleted)),
    { dispose: () => clearTimeout(timer) },
  );
}
