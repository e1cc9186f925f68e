import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

export type Settings = Readonly<Record<string, unknown>>;

/**
 * Every test has these user settings: quiet pictures, a desktop window's defaults where the web
 * window's differ, and nothing that looks anything up outside this machine.
 */
export const quietSettings: Settings = {
  'workbench.startupEditor': 'none',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.editor.useModal': 'off',
  'workbench.tips.enabled': false,
  'workbench.enableExperiments': false,
  'workbench.settings.enableNaturalLanguageSearch': false,
  'workbench.welcomePage.walkthroughs.openOnInstall': false,
  'window.commandCenter': false,
  'window.confirmBeforeClose': 'never',
  'files.autoSave': 'off',
  'chat.disableAIFeatures': true,
  'chat.mcp.gallery.enabled': false,
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'git.autofetch': false,
  'git.openRepositoryInParentFolders': 'never',
  'json.schemaDownload.enable': false,
  'npm.fetchOnlinePackageInfo': false,
  // A window that is not trusted opens in Restricted Mode without a dialog in the way; 'once'
  // brings the dialog.
  'security.workspace.trust.startupPrompt': 'never',
  'telemetry.telemetryLevel': 'off',
  'typescript.disableAutomaticTypeAcquisition': true,
  'typescript.surveys.enabled': false,
  'update.mode': 'none',
  'update.showReleaseNotes': false,
};

/** Writes the quiet settings and these to the user's `settings.json`, before VS Code starts. */
export async function writeUserSettings(userFolder: string, settings: Settings): Promise<void> {
  await mkdir(userFolder, { recursive: true });
  await writeFile(
    path.join(userFolder, 'settings.json'),
    JSON.stringify({ ...quietSettings, ...settings }, null, 2),
  );
}
