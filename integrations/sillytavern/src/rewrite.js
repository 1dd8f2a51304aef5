// Have a model say what the user means, within a time of its own.

const LONGEST_ANSWER_TOKENS = 100;

/** Return the rewritten question, or '' if the model fails or is too slow. */
export async function rewritten(context, settings, { query, recent }) {
    const { rewriteTimeoutMs, rewriteModel, maxQueryLength } = settings.queryEnhancement;
    const controller = new AbortController();
    let timer;
    const late = new Promise((resolve) => {
        timer = setTimeout(() => {
            controller.abort();
            resolve('');
        }, rewriteTimeoutMs);
    });
    const asked = {
        system: settings.mem0_query_rewrite_prompt,
        user: [...recent, { role: 'user', content: query }]
            .map((one) => `${one.role}: ${one.content}`)
            .join('\n'),
        model: rewriteModel,
        signal: controller.signal,
    };
    try {
        const words = await Promise.race([ask(context, asked), late]);
        return String(words ?? '').trim().slice(0, maxQueryLength);
    } catch {
        return ''; // the question as it stands is good enough
    } finally {
        clearTimeout(timer);
    }
}

async function ask(context, { system, user, model, signal }) {
    if (context.mainApi !== 'openai') {
        return context.generateRaw({
            prompt: user,
            systemPrompt: system,
            responseLength: LONGEST_ANSWER_TOKENS,
        });
    }
    const chosen = context.chatCompletionSettings;
    const answer = await context.ChatCompletionService.processRequest(
        {
            stream: false,
            messages: [
                { role: 'system', content: system },
                { role: 'user', content: user },
            ],
            model: model || context.getChatCompletionModel(),
            chat_completion_source: chosen.chat_completion_source,
            custom_url: chosen.custom_url,
            reverse_proxy: chosen.reverse_proxy,
            proxy_password: chosen.proxy_password,
            custom_include_headers: chosen.custom_include_headers,
            max_tokens: LONGEST_ANSWER_TOKENS,
        },
        {},
        true,
        signal,
    );
    return answer?.content ?? '';
}
