import * as vscode from 'vscode';
import * as z from 'zod/mini';
import { toBaseUrl } from '../core/api/address.ts';
import { archiveTypeSchema, identifierSchema, languageSchema } from '../core/api/schema.ts';
import { AssessmentError } from '../core/errors.ts';
import { SEVERITIES } from '../core/findings/finding.ts';

export interface Destination {
  readonly baseUrl: string;
  readonly organizationId: string;
}

export function readDestination(): Destination | undefined {
  const { baseUrl, organizationId } = readRawDestination();
  return baseUrl === '' || organizationId === ''
    ? undefined
    : { baseUrl: toBaseUrl(baseUrl), organizationId };
}

export function readRawDestination(): Destination {
  const typed = (key: string): string => String(userValue(key)).trim();
  return { baseUrl: typed('baseUrl'), organizationId: typed('organizationId') };
}

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
const atLeastOneSchema = z.number().check(z.minimum(1));
const notificationsSchema = z.enum(['all', 'attention', 'none']);
const endpointIdsSchema = z.array(identifierSchema).check(z.maxLength(100));

/** Checks even the settings of a run that are read later with a fallback. Throws `badSetting`. */
export function readAssessmentSettings(folder: vscode.Uri | undefined) {
  const settings = vscode.workspace.getConfiguration('whitebox', folder);
  checkedUserValue('runs.retainLocalDays', atLeastOneSchema);
  checkedUserValue('secrets.checkBeforeUpload', secretCheckSchema);
  checkedUserValue('runs.deleteSourceAfterRun', z.boolean());
  const language = checked('report.language', reportLanguageSchema, settings.get('report.language'));
  const displayLanguage = vscode.env.language.startsWith('ja') ? 'japanese' : 'english';
  return {
    language: language === 'auto' ? displayLanguage : language,
    webhookEndpointIds: checkedUserValue('notification.webhookEndpointIds', endpointIdsSchema),
    archiveType: checked('archive.format', archiveTypeSchema, settings.get('archive.format')),
    exclude: excludeLists(settings),
    includeNestedRepositories: checkedUserValue('archive.includeNestedRepositories', z.boolean()),
    maxArchiveBytes: checkedUserValue('archive.maxSizeMB', atLeastOneSchema) * 1_000_000,
  };
}

/**
 * The lists of user, workspace and folder all apply. VS Code would let a repository's list replace
 * the user's and so widen the upload.
 */
function excludeLists(settings: vscode.WorkspaceConfiguration): string[][] {
  const found = settings.inspect<unknown>('archive.exclude');
  return [found?.globalValue ?? found?.defaultValue, found?.workspaceValue, found?.workspaceFolderValue]
    .filter((list) => list !== undefined)
    .map((list) => checked('archive.exclude', z.array(z.string()), list));
}

/** An invalid command counts, too. */
export function hasTokenCommand(): boolean {
  const command = userValue('tokenCommand');
  return vscode.workspace.isTrusted && !(Array.isArray(command) && command.length === 0);
}

export function readTokenCommand(): readonly string[] {
  const command = z.array(z.string()).safeParse(userValue('tokenCommand'));
  if (command.success) return command.data;
  throw new AssessmentError('tokenCommand', { detail: 'notAList' });
}

/** An invalid value means `block`, the strictest check. */
export function readSecretCheck(): z.infer<typeof secretCheckSchema> {
  return secretCheckSchema.safeParse(userValue('secrets.checkBeforeUpload')).data ?? 'block';
}

/** An invalid value means true. */
export function readDeleteSourceAfterRun(): boolean {
  return userValue('runs.deleteSourceAfterRun') !== false;
}

/** Decisions are in VS Code's storage. With `shared`, they are also written to the folder. */
export function readTriageStorage(folder: vscode.Uri): 'workspace' | 'shared' {
  return vscode.workspace.getConfiguration('whitebox', folder).get('triage.storage', 'workspace');
}

/** An invalid value means the manifest's default. */
export function readRetainLocalDays(): number {
  const { data } = atLeastOneSchema.safeParse(userValue('runs.retainLocalDays'));
  return data ?? atLeastOneSchema.parse(inspected('runs.retainLocalDays')?.defaultValue);
}

/** An invalid value means the manifest's default. */
export function readDisplaySettings() {
  const minimum = userValue('findings.minimumSeverity');
  return {
    minimumSeverity: SEVERITIES.find((severity) => severity === minimum && severity !== 'unrated') ?? 'none',
    hideTriaged: userValue('findings.hideTriaged') !== false,
    showInProblems: userValue('findings.showInProblems') !== false,
    notifications: notificationsSchema.safeParse(userValue('notifications.level')).data ?? 'all',
  };
}

/**
 * Never returns a workspace's value: a repository must not decide where code and tokens go, what is
 * executed, or what is hidden. The settings' scope in the manifest excludes workspaces, but an
 * editor may ignore it.
 */
function userValue(key: string): unknown {
  const found = inspected(key);
  return found?.globalValue ?? found?.defaultValue;
}

function inspected(key: string) {
  return vscode.workspace.getConfiguration('whitebox').inspect<unknown>(key);
}

type Checkable<T> = z.ZodMiniType<T> & { options?: readonly T[] };

function checkedUserValue<T>(key: string, schema: Checkable<T>): T {
  return checked(key, schema, userValue(key));
}

function checked<T>(key: string, schema: Checkable<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new AssessmentError('badSetting', { subject: key, detail: schema.options?.join(', ') });
}
