import * as vscode from 'vscode';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import type { ShownLocation } from '../../core/findings/shownFinding.ts';
import { changesOf, type ComparedBranch, type NoBranch } from '../../core/findings/view/branchChanges.ts';
import type { Logger } from '../../core/ports.ts';
import { type FolderCalls, inBackground, inParallel } from '../../core/yieldingWork.ts';
import { answerOfGit, type GitApi, gitApi, type GitRepository, uniqueByRoot, whenRead } from '../folders.ts';
import { withViewProgress } from '../progress.ts';
import { showInformation } from '../showMessage.ts';
import { type Base, FilesAtBase, findBase } from './code/branchBase.ts';
import { isSilence, textNow } from './code/fileTexts.ts';
import type { Filtering } from './tree/filtering.ts';
import { formatList } from '../formats.ts';

const t = vscode.l10n.t;

const branchKey = 'findings.baseBranch';
const gatherMs = 200;
const filesAtOnce = 8;
/** VS Code's git extension starts up to two processes per file. */
const maxFiles = 2_000;
const maxBranches = 200;

type Unavailable = Extract<ComparedBranch, { kind: 'unavailable' }>;

interface Deps {
  readonly findings: FindingStore;
  readonly filtering: Filtering;
  readonly memory: vscode.Memento;
  readonly calls: Pick<FolderCalls, 'ask' | 'onDidAnswer'>;
  readonly log: Logger;
}

/** While the filter is on, files and bases that have changed are compared again. */
export class BranchComparison implements vscode.Disposable {
  readonly #deps: Deps;
  readonly #subscriptions: vscode.Disposable;
  readonly #bases = new Map<string, Promise<Base | undefined>>();
  readonly #files = new FilesAtBase();
  #ofGit: readonly vscode.Disposable[] = [];
  #timer: NodeJS.Timeout | undefined;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(deps: Deps) {
    this.#deps = deps;
    let wasOn = false;
    const follow = (): void => {
      if (this.#isOn === wasOn) return;
      wasOn = this.#isOn;
      if (wasOn) this.#compareSoon();
      else this.#release();
    };
    this.#subscriptions = vscode.Disposable.from(
      deps.filtering.onDidChange(follow),
      deps.findings.onDidChange(() => this.#compareSoon()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.#compareSoon()),
      deps.calls.onDidAnswer(() => this.#compareSoon()),
      vscode.window.onDidChangeWindowState(({ focused }) => {
        if (!focused) return;
        this.#files.forgetUnknown();
        this.#compareSoon();
      }),
    );
    follow();
  }

  get #isOn(): boolean {
    return this.#deps.filtering.filter.changedOnBranch === true;
  }

  async turnOn(): Promise<void> {
    this.#bases.clear();
    const found = await withViewProgress(() =>
      unlessSilent(() => this.#findBases(this.#filesWithFindings())),
    );
    if ('kind' in found) {
      if (found.why === 'noBase') await this.pickBranch();
      else showUnavailable(found.why);
    } else await this.#filter(true);
  }

  turnOff(): Promise<void> {
    return this.#filter(false);
  }

  async pickBranch(): Promise<void> {
    const query = { remote: true, count: maxBranches, sort: 'committerdate' } as const;
    const found = await withViewProgress(() =>
      unlessSilent(async () => {
        const repositories = await this.#repositories(this.#filesWithFindings());
        if ('kind' in repositories) return repositories;
        const all = uniqueByRoot(repositories.values());
        return Promise.all(all.map((repository) => answerOfGit(repository.getBranches(query))));
      }),
    );
    if ('kind' in found) {
      showUnavailable(found.why);
      return;
    }
    // Git would read a name that starts with a dash as an option.
    const names = new Set(
      found.flat().flatMap(({ name }) => (name === undefined || /^-/.test(name) ? [] : name)),
    );
    if (names.size === 0) {
      showUnavailable('noBase');
      return;
    }
    const kept = this.#deps.memory.get<string>(branchKey);
    const items = [...names].map((name) => ({
      label: name.replaceAll('$(', '$\u200B('),
      description: name === kept ? t('current') : '',
      name,
    }));
    const picked = await vscode.window.showQuickPick(items, {
      title: t('Changed on This Branch'),
      placeHolder: t('Choose the branch to compare with.'),
    });
    if (picked === undefined) return;
    await this.#deps.memory.update(branchKey, picked.name);
    this.#bases.clear();
    await this.#filter(true);
    this.#compareSoon();
  }

  /** `changed` has absolute paths of files and folders. */
  reread(changed: ReadonlySet<string>): void {
    if (this.#isOn && this.#files.reread(changed)) this.#compareSoon();
  }

  compare(): Promise<ComparedBranch> {
    // While the filter is off, nothing updates the bases and texts, so they are released.
    const done = this.#queue
      .then(() => unlessSilent(() => this.#compare()))
      .finally(() => this.#isOn || this.#release());
    this.#queue = done.catch(() => undefined); // The caller gets the error.
    return done;
  }

  dispose(): void {
    this.#release();
    this.#subscriptions.dispose();
  }

  async #filter(changedOnBranch: boolean): Promise<void> {
    const { filtering } = this.#deps;
    await filtering.filterBy({ ...filtering.filter, changedOnBranch });
  }

  #release(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const subscription of this.#ofGit) subscription.dispose();
    this.#ofGit = [];
    this.#bases.clear();
    this.#files.keepOnly(new Map());
  }

  #compareSoon(): void {
    if (!this.#isOn) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const compare = async (): Promise<void> => {
        const state = await this.compare();
        if (this.#isOn) this.#deps.filtering.useBranch(state);
      };
      inBackground(compare(), this.#deps.log);
    }, gatherMs);
  }

  #filesWithFindings(): ReadonlyMap<string, Pick<ShownLocation, 'folder' | 'path'>> {
    const { findings } = this.#deps;
    const shown = [...findings.all(), ...findings.absent()];
    const files = new Map(
      shown.flatMap(({ locations }) => locations.map((location) => [location.file, location] as const)),
    );
    return new Map([...files].slice(0, maxFiles));
  }

  async #compare(): Promise<ComparedBranch> {
    const files = this.#filesWithFindings();
    const found = await this.#findBases(files);
    if ('kind' in found) return found;
    this.#files.keepOnly(found);
    await inParallel(files, filesAtOnce, async ([file, location]) => {
      const base = found.get(file);
      if (base !== undefined) await this.#files.compare(file, base, () => textNow(location, this.#deps));
    });
    const bases = new Set([...found.values()].map(({ name, commit }) => `${name} (${commit.slice(0, 10)})`));
    return { kind: 'known', base: formatList(bases), changeOf: changesOf(this.#files.changes()) };
  }

  /**
   * Returns the repositories by file or, if there are no files, by workspace folder. Throws
   * `noAnswer`.
   */
  async #repositories(
    files: ReadonlyMap<string, unknown>,
  ): Promise<ReadonlyMap<string, GitRepository> | Unavailable> {
    if (!vscode.workspace.isTrusted) return unavailable('restricted');
    const git = await gitApi();
    if (git === undefined) return unavailable('noGit');
    const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
    const paths = files.size > 0 ? [...files.keys()] : folders;
    const repositories = (): ReadonlyMap<string, GitRepository> => {
      const found = paths.map((path) => [path, git.getRepository(vscode.Uri.file(path))] as const);
      return new Map(found.flatMap(([path, each]) => (each === null ? [] : [[path, each] as const])));
    };
    // Git is followed before the wait, too: if the wait times out, a later change in Git still
    // starts a comparison.
    if (this.#isOn) this.#followGit(git, repositories().values());
    const found = await whenRead(git, repositories);
    if (this.#isOn) this.#followGit(git, found.values());
    return found.size === 0 ? unavailable('noRepository') : found;
  }

  async #findBases(files: ReadonlyMap<string, unknown>): Promise<ReadonlyMap<string, Base> | Unavailable> {
    const { memory, log } = this.#deps;
    const found = await this.#repositories(files);
    if ('kind' in found) return found;
    const bases = new Map<string, Base>();
    for (const [path, repository] of found) {
      const root = repository.rootUri.fsPath;
      const finding = this.#bases.get(root) ?? findBase(repository, memory.get<string>(branchKey), log);
      this.#bases.set(root, finding);
      const base = await finding.catch((error: unknown) => {
        this.#bases.delete(root);
        throw error;
      });
      if (base !== undefined) bases.set(path, base);
    }
    return bases.size === 0 ? unavailable('noBase') : bases;
  }

  /** A checkout, a fetch, or a repository that opens or closes can change bases. */
  #followGit(git: GitApi, repositories: Iterable<GitRepository>): void {
    for (const subscription of this.#ofGit) subscription.dispose();
    const change = (): void => {
      this.#bases.clear();
      this.#compareSoon();
    };
    this.#ofGit = [
      git.onDidChangeState(change),
      git.onDidOpenRepository(change),
      git.onDidCloseRepository(change),
      ...uniqueByRoot(repositories).map(({ state }) => state.onDidChange(change)),
    ];
  }
}

async function unlessSilent<T>(work: () => Promise<T>): Promise<T | Unavailable> {
  try {
    return await work();
  } catch (error) {
    if (isSilence(error)) return unavailable('noAnswer');
    throw error;
  }
}

function unavailable(why: NoBranch): Unavailable {
  return { kind: 'unavailable', why };
}

function showUnavailable(why: NoBranch): void {
  void showInformation(t('“Changed on This Branch” isn’t available: {0}.', noBranchLabel(why)));
}

export function noBranchLabel(why: NoBranch): string {
  return {
    restricted: t('Git isn’t used in Restricted Mode'),
    noGit: t('VS Code’s Git extension is disabled or couldn’t find Git'),
    noAnswer: t('VS Code’s Git extension didn’t respond in time'),
    noRepository: t('VS Code has no Git repository open for these files'),
    noBase: t('VS Code found no branch to compare with'),
  }[why];
}
