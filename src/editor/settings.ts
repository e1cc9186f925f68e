import * as vscode from 'vscode';
import * as z from 'zod/mini';
import { toBaseUrl } from '../core/api/address.ts';
import { archiveTypeSchema, identifierSchema, languageSchema } from '../core/api/schema.ts';
import { AssessmentError } from '../core/errors.ts';
import { SEVERITIES } from '../core/findings/finding.ts';

/** Where a person's runs go: a normalized base URL and an organization ID. */
export interface Destination {
  readonly baseUrl: string;
  readonly organizationId: string;
}

/** The service and organization from the settings, or undefined while either is empty; throws `badSetting` or `insecureUrl` for an address that cannot be used. */
export function readDestination(): Destination | undefined {
  const { baseUrl, organizationId } = readRawDestination();
  return baseUrl === '' || organizationId === ''
    ? undefined
    : { baseUrl: toBaseUrl(baseUrl), organizationId };
}

/** The two settings as they were typed. */
export function readRawDestination(): Destination {
  const typed = (key: string): string => String(own(key)).trim();
  return { baseUrl: typed('baseUrl'), organizationId: typed('organizationId') };
}

/** Writes a destination to the user's settings. Throws `badSetting` with VS Code's message where the file cannot be written, as with a syntax error in it. */
export async function writeDestination(destination: Destination): Promise<void> {
  const settings = vscode.workspace.getConfiguration('whitebox');
  try {
    await settings.update('baseUrl', destination.baseUrl, vscode.ConfigurationTarget.Global);
    await settings.update('organizationId', destination.organizationId, vscode.ConfigurationTarget.Global);
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new AssessmentError('badSetting', { subject: 'settings.json', detail }, { cause: error });
  }
}

const reportLanguageSchema = z.enum(['auto', ...languageSchema.options]);
const secretCheckSchema = z.enum(['block', 'warn', 'off']);
const maxSizeSchema = z.number().check(z.positive());
const retainLocalDaysSchema = z.number().check(z.minimum(1));
const notificationsSchema = z.enum(['all', 'attention', 'none']);
const endpointIdsSchema = z.array(identifierSchema).check(z.maxLength(100));

/** The settings of an assessment of a folder. Throws `badSetting` for an invalid value of any setting that matters to a run, also of those that are read later with a fallback (docs/api.md, section 8). */
export function readAssessmentSettings(folder: vscode.Uri | undefined) {
  const settings = vscode.workspace.getConfiguration('whitebox', folder);
  ownChecked('runs.retainLocalDays', retainLocalDaysSchema);
  ownChecked('secrets.checkBeforeUpload', secretCheckSchema);
  ownChecked('runs.deleteSourceAfterRun', z.boolean());
  const language = checked('report.language', reportLanguageSchema, settings.get('report.language'));
  const usual = vscode.env.language.startsWith('ja') ? 'japanese' : 'english';
  return {
    language: language === 'auto' ? usual : language,
    webhookEndpointIds: ownChecked('notification.webhookEndpointIds', endpointIdsSchema),
    archiveType: checked('archive.format', archiveTypeSchema, settings.get('archive.format')),
    exclude: excludeLists(settings),
    includeNestedRepositories: ownChecked('archive.includeNestedRepositories', z.boolean()),
    maxArchiveBytes: ownChecked('archive.maxSizeMB', maxSizeSchema) * 1_000_000,
  };
}

/** The lists of patterns of user, workspace and folder, of which all apply. VS Code lets the workspace's list replace the user's, so that a repository could widen what is uploaded. */
function excludeLists(settings: vscode.WorkspaceConfiguration): string[][] {
  const found = settings.inspect<unknown>('archive.exclude');
  return [found?.globalValue ?? found?.defaultValue, found?.workspaceValue, found?.workspaceFolderValue]
    .filter((list) => list !== undefined)
    .map((list) => checked('archive.exclude', z.array(z.string()), list));
}

/** True when there is a token command, even an invalid one, and the workspace is trusted. */
export function hasTokenCommand(): boolean {
  const command = own('tokenCommand');
  return vscode.workspace.isTrusted && !(Array.isArray(command) && command.length === 0);
}

/** The token command. Throws `tokenCommand` where it is not a list of strings; runs wait until that is corrected. */
export function readTokenCommand(): readonly string[] {
  const command = z.array(z.string()).safeParse(own('tokenCommand'));
  if (command.success) return command.data;
  throw new AssessmentError('tokenCommand', { detail: 'notAList' });
}

/** How files with suspected secrets are treated; an invalid value means the strictest. */
export function readSecretCheck(): z.infer<typeof secretCheckSchema> {
  return secretCheckSchema.safeParse(own('secrets.checkBeforeUpload')).data ?? 'block';
}

/** Whether uploaded source is deleted from the service after a run; an invalid value means true. */
export function readDeleteSourceAfterRun(): boolean {
  return own('runs.deleteSourceAfterRun') !== false;
}

/** Where triage decisions about a folder's findings are stored: in VS Code's storage, or shared in the folder. */
export function readTriageStorage(folder: vscode.Uri): 'workspace' | 'shared' {
  return vscode.workspace.getConfiguration('whitebox', folder).get('triage.storage', 'workspace');
}

/** For how many days ended runs stay on this machine; an invalid value, which the next start of an assessment reports, means the default. */
export function readRetainLocalDays(): number {
  return retainLocalDaysSchema.safeParse(own('runs.retainLocalDays')).data ?? 90;
}

/** Which findings and notifications are shown; an invalid value hides nothing. */
export function readDisplaySettings() {
  const minimum = own('findings.minimumSeverity');
  return {
    minimumSeverity: SEVERITIES.find((each) => each === minimum && each !== 'unrated') ?? 'none',
    hideTriaged: own('findings.hideTriaged') !== false,
    showInProblems: own('findings.showInProblems') !== false,
    notifications: notificationsSchema.safeParse(own('notifications.level')).data ?? 'all',
  };
}

/**
 * A setting that decides where code and tokens go, what runs, or what is hidden: the user's own value or the manifest's default, never a workspace's. The manifest's
 * scope says the same; this holds even where an editor does not keep to it.
 */
function own(key: string): unknown {
  const found = vscode.workspace.getConfiguration('whitebox').inspect<unknown>(key);
  return found?.globalValue ?? found?.defaultValue;
}

type Checkable<T> = z.ZodMiniType<T> & { options?: readonly T[] };

/** The same. Throws `badSetting`, with the allowed values, for an invalid value. */
function ownChecked<T>(key: string, schema: Checkable<T>): T {
  return checked(key, schema, own(key));
}

function checked<T>(key: string, schema: Checkable<T>, value: unknown): T {
  const found = schema.safeParse(value);
  if (found.success) return found.data;
  throw new AssessmentError('badSetting', { subject: key, detail: schema.options?.join(', ') });
}
