import * as vscode from 'vscode';
import { AssessmentError } from '../../core/errors.ts';
import type { FindingStore } from '../../core/findings/findingStore.ts';
import { escapeMarkdown } from '../../core/findings/view/findingMarkdown.ts';
import {
  answerText,
  decisionOfTool,
  findNamed,
  readingTools,
  readInput,
  toolInputs,
} from '../../core/findings/agents/toolAnswers.ts';
import { visibleLine } from '../../core/visibleText.ts';
import type { TriageDecision } from '../../core/findings/triage/triage.ts';
import type { Clock } from '../../core/ports.ts';
import type { RunStore } from '../../core/run/disk/runStore.ts';
import { answerOf } from '../../core/yieldingWork.ts';
import type { BranchComparison } from '../findings/changedOnBranch.ts';
import { titleOfFinding, triageLabel } from '../findingLabels.ts';

const t = vscode.l10n.t;

/** Tools get nothing that sends requests to the service. */
interface ToolDeps {
  readonly runs: RunStore;
  readonly findings: FindingStore;
  readonly branch: Pick<BranchComparison, 'compare'>;
  readonly clock: Clock;
}

type Tool = vscode.LanguageModelTool<object>;

export function createTools({ runs, findings, branch, clock }: ToolDeps): ReadonlyMap<string, Tool> {
  /** Waits, so that a model doesn't get an empty list while findings are being read. */
  const whenRead = async (): Promise<void> => {
    if (findings.reading().length === 0) return;
    try {
      await answerOf(findings.load(), 'findings', { clock });
    } catch (error) {
      if (!(error instanceof AssessmentError && error.kind === 'noAnswer')) throw error;
      throw new Error('VS Code is still reading the findings. Ask again in a minute.', { cause: error });
    }
  };
  const reading = readingTools({
    findings: async () => {
      await whenRead();
      return { runs: findings.shownRuns(), locate: (shown) => Promise.resolve(shown) };
    },
    withDetails: (shown) => findings.withDetails(shown),
    runs: () => ({ runs: runs.all(), unread: runs.unread().length }),
    confirmationsOf: (shown) => findings.confirmationsOf(shown),
    branch,
    clock,
  });
  /** The model gets the message of an error that this function throws. */
  const toDecision = async (input: unknown) => {
    if (!vscode.workspace.isTrusted)
      throw new Error(
        'Triage decisions are not available in Restricted Mode. The user has to trust the workspace first.',
      );
    const call = readInput(toolInputs.setTriage, input);
    await whenRead();
    const shown = findNamed([...findings.all(), ...findings.absent()], call.finding);
    return { named: call.finding, shown, next: decisionOfTool(shown.triage, call) };
  };
  const toTool = (read: (input: unknown) => Promise<string>, invocationMessage: string): Tool => ({
    prepareInvocation: () => ({ invocationMessage }),
    invoke: async ({ input }) => toResult(await read(input)),
  });
  return new Map<string, Tool>([
    ['whitebox_listFindings', toTool(reading.listFindings, t('Listing findings'))],
    ['whitebox_getFinding', toTool(reading.getFinding, t('Reading a finding'))],
    ['whitebox_getRunStatus', toTool(reading.getRunStatus, t('Reading the state of the runs'))],
    [
      'whitebox_setTriage',
      {
        prepareInvocation: async ({ input }) => {
          const { shown, next } = await toDecision(input);
          const title = escapeMarkdown(titleOfFinding(shown.finding));
          const [from, to] = [decisionLabel(shown.triage), decisionLabel(next)];
          return {
            invocationMessage: t('Setting a triage state'),
            confirmationMessages: {
              title: t('Set Triage State'),
              message: new vscode.MarkdownString(t('{0}: from “{1}” to “{2}”', title, from, to)),
            },
          };
        },
        invoke: async ({ input }) => {
          const { named, shown, next } = await toDecision(input);
          await findings.setTriage([shown], next.state, next.note, { via: 'agent' });
          return toResult(answerText({ finding: named, triage: next.state }));
        },
      },
    ],
  ]);
}

function decisionLabel({ state, note }: Pick<TriageDecision, 'state' | 'note'>): string {
  const label = triageLabel(state);
  return note === '' ? label : `${label}: ${escapeMarkdown(visibleLine(note))}`;
}

function toResult(text: string): vscode.LanguageModelToolResult {
  return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(text)]);
}
