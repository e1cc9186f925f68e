import { targetFile, type Stage } from '../e2e/stage.ts';
import { eventually } from '../host/workbench/eventually.ts';
import type { Audience } from './playJob.ts';

/**
 * Plays crawl, choice, assessment and findings of the live application in the open window of a
 * signed-in user.
 */
export async function playBlackbox(stage: Stage, { step, picture, running }: Audience): Promise<void> {
  const workbench = stage.workbench();
  const { application } = stage;
  if (application === undefined) throw new Error('The stage has no live application');
  step('Open the target file of a live application');
  await workbench.openFile(targetFile);
  await workbench.page.locator('.codelens-decoration', { hasText: 'Start Crawl' }).first().waitFor();
  await picture('targetFile');
  step('Enter the passwords, read the question before the crawl, and agree');
  await workbench.page.locator('.codelens-decoration a', { hasText: 'Start Crawl' }).first().click();
  for (const { id, password } of application.credentials)
    await workbench.answer(password, `Password for ${id}`);
  await workbench.dialogText();
  await picture('crawl');
  await workbench.dialogButton('Start Crawl');
  step('Watch the crawl until its one notification, and see the features that it found');
  await running?.();
  await workbench.notification(/The crawl of .* has finished/);
  await workbench.dismissNotifications();
  await workbench.openView('Whitebox Assessment');
  await eventually(
    () => workbench.treeRows('Features'),
    (rows) => rows.length > 0,
  );
  step('Choose what to assess');
  await workbench.runCommand('Whitebox: Choose Pairs…');
  await workbench.pick('By Perspective…');
  await workbench.pickSeveral(['Injection', 'XSS', 'OpenRedirect']);
  await workbench.expandAll('Features');
  await picture('features');
  await workbench.runCommand('Whitebox: Assess Chosen Pairs…');
  await workbench.answer('50', 'Credits for testing');
  await workbench.answer('20', 'Credits for crawling');
  await workbench.dialogText();
  await picture('assess');
  await workbench.dialogButton('Start Assessment');
  step('Watch the assessment until its one notification');
  await running?.();
  await workbench.notification(/The assessment of .* has finished/);
  await workbench.dismissNotifications();
  step('Read what it found in the live application');
  await eventually(
    () => workbench.treeRows('Findings'),
    (rows) => rows.length > 0,
  );
  await workbench.expandAll('Findings');
  await picture('liveFindings');
}
