import * as vscode from 'vscode';

/** Sets a person's own settings, such as `whitebox.baseUrl`; undefined takes one back. */
export async function setUserSettings(settings: Readonly<Record<string, unknown>>): Promise<void> {
  for (const [key, value] of Object.entries(settings))
    await vscode.workspace.getConfiguration().update(key, value, vscode.ConfigurationTarget.Global);
}

/** Takes back whatever these tests may have set. */
export function resetUserSettings(): Promise<void> {
  return setUserSettings({
    'http.proxy': undefined,
    'whitebox.baseUrl': undefined,
    'whitebox.organizationId': undefined,
    'whitebox.tokenCommand': undefined,
    'whitebox.archive.format': undefined,
    'whitebox.archive.exclude': undefined,
    'whitebox.archive.includeNestedRepositories': undefined,
    'whitebox.archive.maxSizeMB': undefined,
    'whitebox.report.language': undefined,
    'whitebox.notification.webhookEndpointIds': undefined,
    'whitebox.secrets.checkBeforeUpload': undefined,
    'whitebox.runs.deleteSourceAfterRun': undefined,
    'whitebox.runs.retainLocalDays': undefined,
    'whitebox.notifications.level': undefined,
    'whitebox.findings.minimumSeverity': undefined,
    'whitebox.findings.showInProblems': undefined,
    'whitebox.findings.hideTriaged': undefined,
  });
}

/** A token command that prints this token, run by the extension host's own Node. */
export function printing(token: string): string[] {
  return [process.execPath, '-e', `process.stdout.write(${JSON.stringify(token)})`];
}
