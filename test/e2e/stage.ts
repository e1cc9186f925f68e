import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { extensionId } from '../../src/editor/runs/runLink.ts';
import { launchBrowser, type TestBrowser } from '../host/browser.ts';
import { installExtension, startVsCode, type VsCodeServer } from '../host/server.ts';
import type { Settings } from '../host/settings.ts';
import { setUp } from '../host/setUp.ts';
import { supportedVersions } from '../host/vscode.ts';
import { startWindows } from '../host/wine.ts';
import { openWorkbench, type Workbench } from '../host/workbench.ts';
import { eventually } from '../host/workbench/eventually.ts';
import { packageExtension } from '../tools/package.ts';
import { type AssessmentService, startService } from '../service/assessmentService.ts';
import { inventedShop } from '../service/blackbox/inventedShop.ts';

/**
 * A stage has everything that an e2e test needs: service, VS Code with the packaged extension, and
 * a folder to assess.
 */
export interface Stage {
  readonly service: AssessmentService;
  readonly server: VsCodeServer;
  /** The folder's target file names this application. Undefined unless the options ask for one. */
  readonly application: typeof inventedShop | undefined;
  /** By default, this is a copy of the sample workspace, with added files that Git ignores. */
  readonly folder: string;
  /** The extension's global storage may be filled before a window opens. */
  readonly storage: string;
  readonly hasWindow: () => boolean;
  readonly workbench: () => Workbench;
  /** Opens the folder in a new window of a browser whose secrets and state persist. */
  openWindow(): Promise<Workbench>;
  /** Resolves to the window that VS Code opens because of `act`. */
  openedBy(act: () => Promise<unknown>): Promise<Workbench>;
  /** Closes every window; VS Code's state is kept. */
  closeWindows(): Promise<void>;
  dispose(): Promise<void>;
}

export interface StageOptions {
  readonly service?: Parameters<typeof startService>[0];
  readonly language?: 'en' | 'ja';
  readonly settings?: (service: AssessmentService, folder: string) => Settings;
  /** The window has this size in pixels. A tall one shows long trees whole. */
  readonly viewport?: { readonly width: number; readonly height: number };
  readonly application?: boolean;
  /** VS Code runs in Windows. Service, application, and browser do not. */
  readonly windows?: boolean;
  /** Creates the folder or `.code-workspace` file to open instead of the sample workspace. */
  readonly makeFolder?: (scratch: string) => Promise<string>;
}

/** `.gitignore` names the file with this line, which must never be uploaded. */
export const ignoredSecret = 'INVENTED_PASSWORD=never-uploaded';

export const targetFile = 'shop.blackbox.json';

/**
 * This environment variable names a folder with the packaged extension installed, for every stage
 * to copy instead of installing it again.
 */
export const installedVariable = 'INSTALLED_EXTENSIONS';

export async function installPackaged(extensionsDir: string): Promise<void> {
  const scratch = await mkdtemp(path.join(tmpdir(), 'whitebox-vsix-'));
  try {
    const vsix = await packageExtension(path.join(scratch, 'whitebox-assessment.vsix'));
    await installExtension(supportedVersions.newest, vsix, extensionsDir);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

export async function setStage(options: StageOptions = {}): Promise<Stage> {
  const { made, dispose } = await setUp(async (onUndo) => {
    const scratch = await mkdtemp(path.join(tmpdir(), 'whitebox-'));
    onUndo(() => rm(scratch, { recursive: true, force: true, maxRetries: 5 }));
    const folder = await (options.makeFolder ?? makeShop)(scratch);
    const service = await startService(options.service ?? {});
    onUndo(() => service.close());
    const application = options.application === true ? inventedShop : undefined;
    if (application !== undefined) await writeTargetFile(folder);
    const extensionsDir = path.join(scratch, 'extensions');
    if (process.env[installedVariable] === undefined) await installPackaged(extensionsDir);
    else await cp(process.env[installedVariable], extensionsDir, { recursive: true });
    const windows = options.windows === true ? await startWindows() : undefined;
    onUndo(() => windows?.dispose() ?? Promise.resolve());
    const server = await startVsCode({
      windows,
      version: supportedVersions.newest,
      dataDir: path.join(scratch, 'vscode'),
      extensionsDir,
      settings: options.settings?.(service, folder) ?? {},
    });
    onUndo(() => server.dispose());
    return { scratch, folder, service, application, server };
  });
  const { scratch, folder, service, application, server } = made;
  const storage = path.join(scratch, 'vscode/data/User/globalStorage', extensionId);
  let browser: TestBrowser | undefined;
  let workbench: Workbench | undefined;
  const closeWindows = async (): Promise<void> => {
    // Leaving a page ends its extension host; closing the browser leaves it waiting for a
    // reconnection.
    for (const page of browser?.context.pages() ?? []) await page.goto('about:blank');
    await browser?.dispose();
    browser = undefined;
    workbench = undefined;
  };
  return {
    service,
    application,
    server,
    folder,
    storage,
    hasWindow: () => workbench !== undefined,
    workbench: () => {
      if (workbench === undefined) throw new Error('No window is open');
      return workbench;
    },
    openWindow: async () => {
      browser ??= await launchBrowser({
        profileDir: path.join(scratch, 'profile'),
        language: options.language ?? 'en',
        ...(options.viewport === undefined ? {} : { viewport: options.viewport }),
      });
      workbench = await openWorkbench(
        await browser.newPage(),
        server.urlFor(folder.endsWith('.code-workspace') ? { workspace: folder } : { folder }),
      );
      return workbench;
    },
    openedBy: async (act) => {
      if (browser === undefined) throw new Error('No window is open');
      const [page] = await Promise.all([browser.context.waitForEvent('page'), act()]);
      workbench = await openWorkbench(page);
      return workbench;
    },
    closeWindows,
    dispose: async () => {
      await closeWindows();
      await dispose();
    },
  };
}

const makeShop = (scratch: string): Promise<string> => makeSampleWorkspace(path.join(scratch, 'shop'));

/** Copies the sample workspace and adds a git repository and ignored files. */
export async function makeSampleWorkspace(folder: string): Promise<string> {
  await cp(path.join(import.meta.dirname, '../../examples/sample/shop'), folder, { recursive: true });
  await promisify(execFile)('git', ['init', '--quiet', folder]);
  await writeFile(path.join(folder, '.env'), `${ignoredSecret}\n`);
  await mkdir(path.join(folder, 'build'));
  await writeFile(path.join(folder, 'build', 'bundle.js'), 'eval(window.name);\n');
  return folder;
}

async function writeTargetFile(folder: string): Promise<void> {
  const { origin, credentials } = inventedShop;
  const file = {
    target_urls: [`${origin}/`],
    oos_urls: [`${origin}/logout`],
    authentication: {
      credentials: credentials.map(({ id, role }) => ({ id, role })),
      additional_instructions: 'Log in at /login.',
    },
    preference: { preferences: [{ kind: 'DONT', preference: 'Do not place orders.' }] },
    crawl: { credit_limit: 20 },
    assessment: { scan_credit_limit: 50, crawl_credit_limit: 20 },
  };
  await writeFile(path.join(folder, targetFile), `${JSON.stringify(file, undefined, 2)}\n`);
}

/** A token command signs the user in. */
export function signedIn(service: AssessmentService): Settings {
  return {
    'security.workspace.trust.enabled': false,
    'whitebox.baseUrl': service.baseUrl,
    'whitebox.organizationId': service.organizationId,
    'whitebox.tokenCommand': ['node', '-p', JSON.stringify(service.token)],
  };
}

export async function signIn(
  workbench: Workbench,
  service: AssessmentService,
  token = service.token,
): Promise<void> {
  await workbench.runCommand('Whitebox: Sign In…');
  await workbench.answer(service.baseUrl.replace(/\/v1$/, '/'));
  await workbench.answer(service.organizationId);
  await workbench.answer(token);
}

/**
 * Starts an assessment, agrees to the upload, and waits until the Runs view shows it as running.
 */
export async function startAssessment(stage: Stage): Promise<void> {
  const workbench = stage.workbench();
  const before = stage.service.runs().length;
  await workbench.runCommand('Whitebox: Start Assessment…');
  await workbench.dialogButton('Upload and Start');
  await eventually(
    () => stage.service.runs().length,
    (count) => count > before,
  );
  await workbench.openView('Whitebox Assessment');
  await workbench.untilRow('Runs', ({ label }) => label.startsWith('Running'));
}

async function importFrom({ workbench }: Stage, file: string): Promise<void> {
  const { currentQuickInput, page, runCommand } = workbench();
  await runCommand('Whitebox: Import Findings or Bundle…');
  await eventually(currentQuickInput, ({ title }) => title === 'Import Findings or Bundle');
  const widget = page.locator('.quick-input-widget');
  const input = widget.locator('.quick-input-box input');
  // The dialog replaces typed text while it reads the folder.
  await eventually(
    async () => {
      await input.fill(file, { timeout: 1_000 }).catch(() => undefined);
      await input.press('Enter', { timeout: 1_000 }).catch(() => undefined);
      return widget.isVisible();
    },
    (isOpen) => !isOpen,
  );
}

/** Imports a file with one invented finding in README.md. */
export async function importInvented(stage: Stage): Promise<void> {
  const file = path.join(path.dirname(stage.folder), 'findings.json');
  const findings = [{ title: 'Invented', severity: 'high', file: 'README.md', line: 1 }];
  await writeFile(file, JSON.stringify(findings));
  await importFrom(stage, file);
  await stage.workbench().notification('1 finding imported from findings.json');
}
